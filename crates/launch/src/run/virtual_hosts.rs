//! Hosts within this machine: a command around each rank that puts it where its host is.
//!
//! With `-ppn 2 --wrap 'ip netns exec ns{node}'` ranks 0 and 1 start in the network namespace `ns0`, 2
//! and 3 in `ns1`. The command must become the rank by `exec`, so that the process and its PMI descriptor stay the
//! same.

use std::ffi::OsString;

/// The virtual hosts of a job, and the command that moves ranks to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct VirtualHosts {
    /// The words of the command before the program.
    words: Vec<String>,
    /// The names of the hosts. Without names there are as many hosts as needed, with numbers.
    hosts: Vec<String>,
    /// Ranks per host.
    per_host: u32,
    /// Ranks of the job.
    ranks: u32,
}

impl VirtualHosts {
    /// Starts `ranks` ranks by the command `text`, `per_host` on the first of `hosts`, as many on the next
    /// one, and so on in turn.
    ///
    /// # Errors
    /// If the command contains `{host}` and no host has a name.
    pub(crate) fn new(
        text: &str,
        hosts: &[String],
        per_host: u32,
        ranks: u32,
    ) -> Result<Self, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        if hosts.is_empty() && words.iter().any(|word| word.contains("{host}")) {
            return Err("--wrap: {host} needs host names: add -hosts, or use {node}".into());
        }
        Ok(Self {
            words,
            hosts: hosts.to_vec(),
            per_host: per_host.max(1),
            ranks,
        })
    }

    /// The number of hosts.
    fn nodes(&self) -> u32 {
        let needed = self.ranks.div_ceil(self.per_host).max(1);
        let named = self.hosts.len() as u32;
        if named == 0 { needed } else { named }
    }

    /// The number of the host of `rank`.
    pub(crate) fn node(&self, rank: u32) -> u32 {
        rank / self.per_host % self.nodes()
    }

    /// The local rank of `rank`, and the number of ranks of its host.
    pub(crate) fn local_rank(&self, rank: u32) -> (u32, u32) {
        let here = (0..self.ranks).filter(|&other| self.node(other) == self.node(rank));
        let before = here.clone().take_while(|&other| other < rank).count();
        (before as u32, here.count() as u32)
    }

    /// The words before the program of `rank`.
    pub(crate) fn command(&self, rank: u32) -> Vec<OsString> {
        let node = self.node(rank);
        let host = self.hosts.get(node as usize).map_or("", String::as_str);
        let fill = |word: &String| {
            let word = word.replace("{node}", &node.to_string());
            let word = word.replace("{rank}", &rank.to_string());
            word.replace("{host}", host).into()
        };
        self.words.iter().map(fill).collect()
    }

    /// The value of `PMI_process_mapping`.
    pub(crate) fn mapping(&self) -> String {
        format!("(vector,(0,{},{}))", self.nodes(), self.per_host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_fill_one_host_after_the_other() {
        let hosts =
            VirtualHosts::new("ip netns exec ns{node}", &[], 2, 5).expect("numbers will do");
        let nodes: Vec<u32> = (0..5).map(|rank| hosts.node(rank)).collect();
        assert_eq!(nodes, [0, 0, 1, 1, 2]);
        assert_eq!(hosts.command(3), ["ip", "netns", "exec", "ns1"]);
        assert_eq!((hosts.local_rank(3), hosts.local_rank(4)), ((1, 2), (0, 1)));
        assert_eq!(hosts.mapping(), "(vector,(0,3,2))");
    }

    #[test]
    fn named_hosts_are_interleaved() {
        let hosts = ["a".to_owned(), "b".to_owned()];
        let hosts =
            VirtualHosts::new("ssh-like {host} {rank}", &hosts, 1, 3).expect("both have names");
        assert_eq!(hosts.command(2), ["ssh-like", "a", "2"]);
        assert_eq!((hosts.local_rank(0), hosts.local_rank(2)), ((0, 2), (1, 2)));
        assert_eq!(hosts.mapping(), "(vector,(0,2,1))");
    }

    #[test]
    fn a_name_is_needed_where_it_is_named() {
        let why = VirtualHosts::new("on {host}", &[], 1, 2).expect_err("no names");
        assert!(why.contains("-hosts"), "{why}");
    }
}
