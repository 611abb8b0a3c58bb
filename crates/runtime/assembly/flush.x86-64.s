# flush: 48 instructions, release, one codegen unit, target-cpu x86-64
# made by rustc 1.95.0 (59807616e 2026-04-14), LLVM 22.1.2

    jmp <<oxmpi_shm::transport::tx::ShmTx<B> as oxmpi_wire::transport::Tx>::flush>

# <oxmpi_shm::transport::tx::ShmTx<B> as oxmpi_wire::transport::Tx>::flush
    push rbx
    mov esi, dword ptr [rdi + 692]
    mov eax, 4294967295
    cmp rsi, rax
    je .L0
    mov rax, qword ptr [rdi + 288]
    cmp rax, rsi
    jbe .L1
    mov rax, qword ptr [rdi + 280]
    imul rcx, rsi, 104
    mov rdx, qword ptr [rax + rcx + 64]
    mov rax, qword ptr [rax + rcx + 80]
    mov rax, qword ptr [rdx + 8*rax]
    test al, 1
    jne .L2
.L3:
    mov dword ptr [rdi + 692], -1
.L4:
    mov rcx, qword ptr [rdi + 312]
    test rcx, rcx
    je .L0
    lea rax, [rcx - 1]
    mov qword ptr [rdi + 312], rax
    mov rax, qword ptr [rdi + 288]
    mov rdx, qword ptr [rdi + 304]
    mov esi, dword ptr [rdx + 4*rcx - 4]
    cmp rax, rsi
    jbe .L1
    mov rax, qword ptr [rdi + 280]
    imul rcx, rsi, 104
    mov rdx, qword ptr [rax + rcx + 64]
    mov rax, qword ptr [rax + rcx + 80]
    mov rax, qword ptr [rdx + 8*rax]
    test al, 1
    je .L4
    mov rbx, rdi
    call <oxmpi_shm::transport::tx::ShmTx<B>::wake>
    mov rdi, rbx
    jmp .L4
.L0:
    pop rbx
    ret
.L2:
    mov rbx, rdi
    call <oxmpi_shm::transport::tx::ShmTx<B>::wake>
    mov rdi, rbx
    jmp .L3
.L1:
    mov edx, offset .L5
    mov rdi, rsi
    mov rsi, rax
    call <core::panicking::panic_bounds_check>
