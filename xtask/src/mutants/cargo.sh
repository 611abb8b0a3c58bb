#!/bin/sh
# Cargo for cargo-mutants: unit tests first, for building the other tests takes longer than running these.
case " $* " in
*" --no-run "*) exec cargo "$@" "$UNIT_TESTS" ;;
" test "*) cargo "$@" "$UNIT_TESTS" && exec cargo "$@" ;;
*) exec cargo "$@" ;;
esac
