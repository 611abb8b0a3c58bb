# try_short: 135 instructions, release, one codegen unit, target-cpu x86-64
# made by rustc 1.95.0 (59807616e 2026-04-14), LLVM 22.1.2

    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 40
    mov ebx, edx
    mov rax, qword ptr [rdi + 384]
    cmp rax, rbx
    jbe .L0
    mov r10, qword ptr [rdi + 376]
    imul r11, rbx, 112
    mov al, 1
    cmp dword ptr [r10 + r11 + 88], 0
    jne .L1
    add r10, r11
    cmp dword ptr [r10 + 92], 8
    setb r11b
    mov r10d, dword ptr [rdi + 476]
    cmp r10d, 256
    setae bpl
    or bpl, r11b
    jne .L1
    inc r10d
    mov dword ptr [rdi + 476], r10d
    mov rax, qword ptr [rsi + 288]
    cmp rax, rbx
    jbe .L2
    mov rdi, qword ptr [rsi + 280]
    imul r14, rbx, 104
    mov r10d, dword ptr [rdi + r14 + 44]
    cmp r10d, dword ptr [rdi + r14 + 40]
    je .L3
    cmp rax, rbx
    jbe .L4
.L5:
    mov rax, qword ptr [rsi + 280]
    lea rbx, [rax + r14]
    mov edi, dword ptr [rax + r14 + 56]
    and edi, dword ptr [rax + r14 + 40]
    mov rax, qword ptr [rax + r14 + 24]
    shl rdi, 7
    add rax, rdi
    add rax, 16
    mov qword ptr [rsp + 24], rax
    mov qword ptr [rsp + 32], 48
    mov rdi, qword ptr [r9]
    mov qword ptr [rsp + 16], rdi
    test al, 7
    je .L6
    lea rdi, [rsp + 24]
    lea rax, [rsp + 16]
    mov ebp, edx
    mov edx, 8
    mov r14, rsi
    mov rsi, rax
    mov r15, rcx
    mov r12d, r8d
    call <oxmpi_shm::transport::foreign::Foreign::put_slow>
    mov r8d, r12d
    mov rcx, r15
    mov rsi, r14
    mov edx, ebp
    jmp .L7
.L6:
    mov qword ptr [rax], rdi
.L7:
    shl rcx, 32
    mov eax, r8d
    mov edi, dword ptr [rbx + 56]
    and edi, dword ptr [rbx + 40]
    or rax, rcx
    mov rcx, qword ptr [rbx + 24]
    shl rdi, 7
    mov qword ptr [rcx + rdi + 8], rax
    mov eax, dword ptr [rbx + 40]
    mov ecx, dword ptr [rbx + 56]
    and ecx, eax
    inc eax
    mov dword ptr [rbx + 40], eax
    shl rax, 32
    or rax, 16777224
    mov rdi, qword ptr [rbx + 24]
    shl rcx, 7
    mov qword ptr [rdi + rcx], rax
    mov eax, dword ptr [rsi + 692]
    cmp eax, -1
    je .L8
    cmp eax, edx
    je .L9
    mov rdi, rsi
    mov esi, edx
    call <oxmpi_shm::transport::tx::ShmTx<B>::remember_also>
    jmp .L9
.L8:
    mov dword ptr [rsi + 692], edx
.L9:
    xor eax, eax
.L1:
    add rsp, 40
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
.L3:
    mov qword ptr [rsp + 8], r9
    mov ebp, r8d
    mov r12, rcx
    mov r15, rsi
    mov rdi, rsi
    mov r13d, edx
    mov esi, edx
    xor edx, edx
    call <oxmpi_shm::transport::tx::ShmTx<B>::make_room>
    mov ecx, eax
    mov al, 1
    test cl, cl
    jne .L1
    mov rsi, r15
    mov rax, qword ptr [r15 + 288]
    mov edx, r13d
    mov rcx, r12
    mov r8d, ebp
    mov r9, qword ptr [rsp + 8]
    cmp rax, rbx
    ja .L5
.L4:
    mov edx, offset .L10
    mov rdi, rbx
    mov rsi, rax
    call <core::panicking::panic_bounds_check>
.L0:
    mov edx, offset .L11
    mov rdi, rbx
    mov rsi, rax
    call <core::panicking::panic_bounds_check>
.L2:
    mov edx, offset .L12
    mov rdi, rbx
    mov rsi, rax
    call <core::panicking::panic_bounds_check>
