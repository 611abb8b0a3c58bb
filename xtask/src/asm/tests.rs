//! Tests of what is kept of the compiler's assembly, and of the rules.

use super::listing::{Line, Listing, maker};
use super::rules::broken;

const ASSEMBLY: &str = "
	.section	.text.other
_ZN9functions5other17h0123456789abcdefE:
	call	_ZN9functions4send17h0123456789abcdefE
.Lfunc_end0:
	.type	_ZN9functions4send17h0123456789abcdefE,@function
_ZN9functions4send17h0123456789abcdefE:
.Lfunc_begin1:
	.cfi_startproc
	push	rbx
	mov	rax, qword ptr [rdi + 8]   # 8-byte Spill
	#MEMBARRIER
	test	rax, rax
	jne	.LBB33_3
.LBB33_1:
	lea	rdx, [rip + .Lanon.c242235db0579224.137]
	jmp	.LBB33_1
	.p2align	4
.LBB33_3:
	call	_ZN9oxmpi_shm9transport2tx14ShmTx$LT$B$GT$4wake17h92d47d1fdc91bb30E
	ret
.Lfunc_end1:
	.size	_ZN9functions4send17h0123456789abcdefE, .Lfunc_end1-_ZN9functions4send17h0123456789abcdefE
	lock		inc	dword ptr [rdi]
";

#[test]
fn one_function_is_kept_without_names_that_change() {
    let listing = Listing::find(ASSEMBLY, "send").expect("it is there");
    let text = "    push rbx
    mov rax, qword ptr [rdi + 8]
    test rax, rax
    jne .L0
.L1:
    lea rdx, [rip + .L2]
    jmp .L1
.L0:
    call <oxmpi_shm::transport::tx::ShmTx<B>::wake>
    ret
";
    assert_eq!((listing.text().as_str(), listing.instructions()), (text, 8));
    assert!(broken(&listing).is_empty(), "{:?}", broken(&listing));
    let find = |name| Listing::find(ASSEMBLY, name);
    assert!(find("sen").is_none() && find("flush").is_none());
}

#[test]
fn a_file_names_its_maker() {
    assert_eq!(
        maker("# send\n# made by rustc 1.2.3, LLVM 4\n\n    ret\n"),
        Some("rustc 1.2.3, LLVM 4")
    );
    assert_eq!(maker(""), None);
}

#[test]
fn what_the_path_must_not_have_is_seen() {
    let complaints = |code: &str| {
        let lines = vec![Line::Instruction(code.into())];
        broken(&Listing {
            name: "send",
            lines,
        })
        .len()
    };
    for code in [
        "lock xadd dword ptr [rdi], eax",
        "xchg dword ptr [rdi], eax",
        "mfence",
        "syscall",
        "call <memcpy>",
        "call rax",
        "call qword ptr [rax + 24]",
        "jmp <oxmpi_wire::engine::Engine<T>::send>",
        "jmp rax",
        "call <<oxmpi_shm::transport::tx::ShmTx<B> as oxmpi_wire::transport::Tx>::flush>",
    ] {
        assert_eq!(complaints(code), 1, "{code}");
    }
    for code in [
        "xchg eax, ecx",
        "mov qword ptr [rdi], rax",
        "jmp .L3",
        "jae .L0",
        "jmp qword ptr [8*rax + .L4]",
        "call <core::panicking::panic_bounds_check>",
        "jmp <oxmpi_shm::transport::tx::ShmTx<B>::wake>",
        "pause",
        "ret",
    ] {
        assert_eq!(complaints(code), 0, "{code}");
    }
}
