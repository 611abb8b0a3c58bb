# short: 101 instructions, release, one codegen unit, target-cpu x86-64
# made by rustc 1.95.0 (59807616e 2026-04-14), LLVM 22.1.2

    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 24
    mov ebx, esi
    mov r12d, esi
    mov rsi, qword ptr [rdi + 288]
    cmp rsi, r12
    jbe .L0
    mov r15, rdx
    mov r14, rdi
    mov rax, qword ptr [rdi + 280]
    imul r13, r12, 104
    mov edx, dword ptr [rax + r13 + 44]
    cmp edx, dword ptr [rax + r13 + 40]
    je .L1
    cmp rsi, r12
    jbe .L2
.L3:
    mov rax, qword ptr [r14 + 280]
    lea r12, [rax + r13]
    mov edx, dword ptr [rax + r13 + 56]
    and edx, dword ptr [rax + r13 + 40]
    mov rax, qword ptr [rax + r13 + 24]
    shl rdx, 7
    add rax, rdx
    add rax, 16
    mov qword ptr [rsp + 8], rax
    mov qword ptr [rsp + 16], 48
    mov rcx, qword ptr [rcx]
    mov qword ptr [rsp], rcx
    test al, 7
    je .L4
    lea rdi, [rsp + 8]
    mov rsi, rsp
    mov edx, 8
    call <oxmpi_shm::transport::foreign::Foreign::put_slow>
    jmp .L5
.L4:
    mov qword ptr [rax], rcx
.L5:
    mov eax, dword ptr [r15]
    mov ecx, dword ptr [r15 + 4]
    shl rax, 32
    mov edx, dword ptr [r12 + 56]
    and edx, dword ptr [r12 + 40]
    or rax, rcx
    mov rcx, qword ptr [r12 + 24]
    shl rdx, 7
    mov qword ptr [rcx + rdx + 8], rax
    mov eax, dword ptr [r15 + 12]
    shl eax, 16
    or eax, dword ptr [r15 + 8]
    mov ecx, dword ptr [r12 + 40]
    mov edx, dword ptr [r12 + 56]
    and edx, ecx
    inc ecx
    mov dword ptr [r12 + 40], ecx
    shl rcx, 32
    or rax, rcx
    mov rcx, qword ptr [r12 + 24]
    shl rdx, 7
    mov qword ptr [rcx + rdx], rax
    mov eax, dword ptr [r14 + 692]
    cmp eax, -1
    je .L6
    cmp eax, ebx
    je .L7
    mov rdi, r14
    mov esi, ebx
    call <oxmpi_shm::transport::tx::ShmTx<B>::remember_also>
    jmp .L7
.L6:
    mov dword ptr [r14 + 692], ebx
.L7:
    xor eax, eax
.L8:
    add rsp, 24
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
.L1:
    mov rbp, rcx
    mov rdi, r14
    mov esi, ebx
    xor edx, edx
    call <oxmpi_shm::transport::tx::ShmTx<B>::make_room>
    mov ecx, eax
    mov al, 1
    test cl, cl
    jne .L8
    mov rsi, qword ptr [r14 + 288]
    mov rcx, rbp
    cmp rsi, r12
    ja .L3
.L2:
    mov edx, offset .L9
    mov rdi, r12
    call <core::panicking::panic_bounds_check>
.L0:
    mov edx, offset .L10
    mov rdi, r12
    call <core::panicking::panic_bounds_check>
