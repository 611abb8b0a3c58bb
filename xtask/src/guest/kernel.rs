//! The guests' kernel and its modules, taken from Debian's package, which is never installed.

use super::apt::Apt;
use crate::{Repo, Result};
use xshell::cmd;

/// The package that depends on the release's newest kernel.
const NEWEST: &str = "linux-image-amd64";

/// The first bytes of an xz file.
const XZ: &[u8] = b"\xfd7zXZ\0";

/// The modules that guests may load.
pub(super) const MODULES: [&str; 16] = [
    // The driver of QEMU's network adapters, and the queueing discipline that loses and delays packets.
    "e1000",
    "sch_netem",
    // Soft-RoCE (rxe) in load order, and the network under it. It asks for a checksum of `crc32_generic` when a
    // device is made; no dependency names that module.
    "crc32_generic",
    "udp_tunnel",
    "ip6_udp_tunnel",
    "ib_core",
    "ib_uverbs",
    // rdmacm, and what it stands on.
    "configfs",
    "ib_cm",
    "iw_cm",
    "rdma_cm",
    "rdma_ucm",
    "rdma_rxe",
    "veth",
    // Under soft-iWARP (siw), which `siw.rs` builds.
    "crc32c_generic",
    "libcrc32c",
];

/// The modules of a guest with RDMA, in load order.
pub(super) const RDMA: &[&str] = MODULES.split_at(2).1;

/// The version that a module of a kernel was built for, such as `6.1.0-56-amd64`.
pub(super) fn version(module: &[u8]) -> Option<&str> {
    const BEFORE: &[u8] = b"vermagic=";
    let at = module
        .windows(BEFORE.len())
        .position(|found| found == BEFORE)?;
    let rest = &module[at + BEFORE.len()..];
    let end = rest.iter().position(|byte| matches!(byte, b' ' | 0))?;
    std::str::from_utf8(&rest[..end]).ok()
}

/// A kernel and its [`MODULES`].
pub(super) struct Kernel {
    pub(super) image: Vec<u8>,
    pub(super) modules: [Vec<u8>; MODULES.len()],
}

/// Fetches the kernel of Debian's newest package, uncompressed.
///
/// Uncompressed, because an emulated processor would take seconds to unpack it.
///
/// # Errors
/// When the package cannot be downloaded, or holds no kernel in a known format.
pub(super) fn fetch(repo: &Repo, apt: &Apt) -> Result<Kernel> {
    let package = apt.dependency(repo, NEWEST, "linux-image-")?;
    let modules = MODULES.map(|name| format!("*/{name}.ko*"));
    let mut files = ["./boot/vmlinuz-*"; MODULES.len() + 1];
    for (file, module) in files[1..].iter_mut().zip(&modules) {
        *file = module;
    }
    let [image, modules @ ..] = apt.files(repo, &package, files)?;
    let (program, packed) =
        payload(&image).ok_or_else(|| format!("{package}: no kernel in a known format"))?;
    let mut kernel = Kernel {
        image: unpack(repo, program, packed)?,
        modules,
    };
    for bytes in &mut kernel.modules {
        if bytes.starts_with(XZ) {
            // Newer packages compress modules, which busybox does not load.
            *bytes = unpack(repo, "xz", bytes)?;
        }
    }
    Ok(kernel)
}

fn unpack(repo: &Repo, program: &str, packed: &[u8]) -> Result<Vec<u8>> {
    let sh = &repo.shell;
    let unpack = cmd!(sh, "{program} --decompress --stdout").stdin(packed);
    Ok(unpack.quiet().output()?.stdout)
}

/// The program that unpacks the kernel in this image, and its input.
///
/// The image's header gives the position: the kernel's `Documentation/arch/x86/boot.rst`.
fn payload(image: &[u8]) -> Option<(&'static str, &[u8])> {
    const SECTOR: usize = 512;
    let number = |at: usize| {
        let bytes = image.get(at..at + 4)?;
        usize::try_from(u32::from_le_bytes(bytes.try_into().ok()?)).ok()
    };
    if image.get(0x202..0x206)? != b"HdrS" {
        return None;
    }
    // 0 means 4, as in the first version of the protocol.
    let sectors = match image[0x1f1] {
        0 => 4,
        sectors => usize::from(sectors),
    };
    let start = ((sectors + 1) * SECTOR).checked_add(number(0x248)?)?;
    // The length includes a last word, the uncompressed size, which is not compressed data.
    let end = start.checked_add(number(0x24c)?.checked_sub(4)?)?;
    let packed = image.get(start..end)?;
    let formats: [(&[u8], &str); 3] = [
        (XZ, "xz"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\x1f\x8b", "gzip"),
    ];
    let (_, program) = formats
        .iter()
        .find(|(magic, _)| packed.starts_with(magic))?;
    Some((program, packed))
}

#[cfg(test)]
mod tests {
    //! Tests of the search for the compressed kernel, and for its version.

    use super::{payload, version};

    fn image(sectors: u8, packed: &[u8]) -> Vec<u8> {
        let start = (usize::from(sectors.max(4 * u8::from(sectors == 0))) + 1) * 512 + 16;
        let mut image = vec![0; start];
        image[0x1f1] = sectors;
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x248..0x24c].copy_from_slice(&16_u32.to_le_bytes());
        let length = u32::try_from(packed.len() + 4).unwrap();
        image[0x24c..0x250].copy_from_slice(&length.to_le_bytes());
        image.extend_from_slice(packed);
        image.extend_from_slice(b"size and what follows");
        image
    }

    #[test]
    fn the_payload_is_found_and_its_format_known() {
        for sectors in [0, 4, 27] {
            let xz = b"\xfd7zXZ\0kernel";
            assert_eq!(payload(&image(sectors, xz)), Some(("xz", &xz[..])));
        }
        let zstd = b"\x28\xb5\x2f\xfdkernel";
        assert_eq!(payload(&image(9, zstd)), Some(("zstd", &zstd[..])));
    }

    #[test]
    fn a_module_names_its_kernel() {
        let module = b"..\0vermagic=6.1.0-56-amd64 SMP preempt mod_unload\0name=x";
        assert_eq!(version(module), Some("6.1.0-56-amd64"));
        assert_eq!(version(b"no module"), None);
    }

    #[test]
    fn what_is_no_kernel_gives_nothing() {
        let good = image(4, b"\xfd7zXZ\0kernel");
        assert_eq!(payload(&good[..good.len() - 30]), None);
        assert_eq!(payload(&[]), None);
        assert_eq!(payload(&image(4, b"BZh9kernel")), None);
        let mut bad = good;
        bad[0x24c..0x250].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(payload(&bad), None);
    }
}
