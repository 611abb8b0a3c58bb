# short: 76 instructions, release, one codegen unit, target-cpu x86-64
# made by rustc 1.95.0 (59807616e 2026-04-14), LLVM 22.1.2

    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 24
    mov ebx, esi
    mov rax, rbx
    shl rax, 7
    lea r13, [rax + 8*rbx]
.L0:
    mov rax, qword ptr [rdi + 288]
    cmp rax, rbx
    jbe .L1
    mov rax, qword ptr [rdi + 280]
    mov r15d, dword ptr [rax + r13 + 56]
    mov r12d, dword ptr [rax + r13 + 60]
    cmp r12d, r15d
    jne .L2
    mov r14, rdi
    mov ebp, esi
    mov qword ptr [rsp + 16], rdx
    xor edx, edx
    mov qword ptr [rsp + 8], rcx
    call <oxmpi_shm::transport::tx::ShmTx<B>::make_room>
    mov rcx, qword ptr [rsp + 8]
    mov rdx, qword ptr [rsp + 16]
    mov rdi, r14
    mov esi, ebp
    test al, al
    je .L0
    jmp .L3
.L2:
    add rax, r13
    mov r8d, dword ptr [rax + 72]
    and r8d, r15d
    mov r9, qword ptr [rax + 40]
    shl r8, 7
    mov rcx, qword ptr [rcx]
    mov qword ptr [r9 + r8 + 16], rcx
    mov ecx, dword ptr [rdx]
    mov r9d, dword ptr [rdx + 4]
    shl rcx, 32
    or rcx, r9
    mov r9, qword ptr [rax + 40]
    mov qword ptr [r9 + r8 + 8], rcx
    mov ecx, dword ptr [rdx + 12]
    shl ecx, 16
    or ecx, dword ptr [rdx + 8]
    mov edx, dword ptr [rax + 56]
    inc edx
    mov dword ptr [rax + 56], edx
    shl rdx, 32
    or rcx, rdx
    mov rdx, qword ptr [rax + 40]
    mov qword ptr [rdx + r8], rcx
    mov rcx, qword ptr [rax + 80]
    mov rax, qword ptr [rax + 96]
    mov rax, qword ptr [rcx + 8*rax]
    test al, 1
    jne .L4
.L3:
    cmp r12d, r15d
    sete al
    add rsp, 24
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
.L4:
    call <oxmpi_shm::transport::tx::ShmTx<B>::wake>
    jmp .L3
.L1:
    mov edx, offset .L5
    mov rdi, rbx
    mov rsi, rax
    call <core::panicking::panic_bounds_check>
