//! [`Pairs`]: what an info object holds.

/// The keys and values of an info object, in the order in which the keys were set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs(pub(crate) Vec<(String, String)>);

impl Pairs {
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        let pair = self.0.iter().find(|pair| pair.0 == key)?;
        Some(&pair.1)
    }

    pub(crate) fn set(&mut self, key: String, value: String) {
        match self.0.iter_mut().find(|pair| pair.0 == key) {
            Some(pair) => pair.1 = value,
            None => self.0.push((key, value)),
        }
    }
}
