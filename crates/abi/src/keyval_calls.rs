//! The calls that make and free keys of attributes, which are alike for communicators, datatypes and windows (MPI 5.0, section
//! 7.7).

/// Defines them for a kind of object.
macro_rules! keyval_calls {
    ($kind:ident $create:literal $free:literal) => {
        #[doc = concat!("`", $create, "`.")]
        ///
        /// # Safety
        /// The functions have the types that the standard says; the key may be written to.
        pub(crate) unsafe fn create_keyval(
            copy: $crate::types::Callback,
            delete: $crate::types::Callback,
            key: *mut c_int,
            state: *mut c_void,
        ) -> c_int {
            $crate::error_handling::catch($create, || {
                let kind = $crate::attribute::Kind::$kind;
                // SAFETY: the caller's promise.
                let made = unsafe { $crate::attribute::create_key(kind, copy, delete, state) };
                // SAFETY: as above.
                unsafe { key.write(made) };
                Ok(())
            })
        }

        #[doc = concat!("`", $free, "`.")]
        ///
        /// # Safety
        /// The key may be read and written to.
        pub(crate) unsafe fn free_keyval(key: *mut c_int) -> c_int {
            $crate::error_handling::catch($free, || {
                // SAFETY: the caller's promise.
                unsafe { $crate::attribute::free_key($crate::attribute::Kind::$kind, key) }
            })
        }
    };
}

pub(crate) use keyval_calls;
