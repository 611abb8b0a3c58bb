# try_short: 99 instructions, release, one codegen unit, target-cpu x86-64
# made by rustc 1.95.0 (59807616e 2026-04-14), LLVM 22.1.2

    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    push rax
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
    mov r10d, dword ptr [rdi + 480]
    cmp r10d, 256
    setae bpl
    or bpl, r11b
    jne .L1
    inc r10d
    mov dword ptr [rdi + 480], r10d
    mov rax, rbx
    shl rax, 7
    lea r14, [rax + 8*rbx]
.L2:
    mov rax, qword ptr [rsi + 288]
    cmp rax, rbx
    jbe .L3
    mov rax, qword ptr [rsi + 280]
    mov edi, dword ptr [rax + r14 + 56]
    cmp dword ptr [rax + r14 + 60], edi
    jne .L4
    mov rdi, rsi
    mov qword ptr [rsp], rsi
    mov esi, edx
    mov ebp, edx
    xor edx, edx
    mov r12, rcx
    mov r15d, r8d
    mov r13, r9
    call <oxmpi_shm::transport::tx::ShmTx<B>::make_room>
    mov r9, r13
    mov r8d, r15d
    mov rcx, r12
    mov rsi, qword ptr [rsp]
    mov edx, ebp
    mov edi, eax
    mov al, 1
    test dil, dil
    je .L2
    jmp .L1
.L4:
    add rax, r14
    and edi, dword ptr [rax + 72]
    mov r10, qword ptr [rax + 40]
    shl rdi, 7
    mov r9, qword ptr [r9]
    mov qword ptr [r10 + rdi + 16], r9
    shl rcx, 32
    mov r8d, r8d
    or r8, rcx
    mov rcx, qword ptr [rax + 40]
    mov qword ptr [rcx + rdi + 8], r8
    mov ecx, dword ptr [rax + 56]
    inc ecx
    mov dword ptr [rax + 56], ecx
    shl rcx, 32
    or rcx, 16777224
    mov r8, qword ptr [rax + 40]
    mov qword ptr [r8 + rdi], rcx
    mov rcx, qword ptr [rax + 80]
    mov rax, qword ptr [rax + 96]
    mov rax, qword ptr [rcx + 8*rax]
    test al, 1
    jne .L5
.L6:
    xor eax, eax
.L1:
    add rsp, 8
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
.L5:
    mov rdi, rsi
    mov esi, edx
    call <oxmpi_shm::transport::tx::ShmTx<B>::wake>
    jmp .L6
.L0:
    mov edx, offset .L7
    mov rdi, rbx
    mov rsi, rax
    call <core::panicking::panic_bounds_check>
.L3:
    mov edx, offset .L8
    mov rdi, rbx
    mov rsi, rax
    call <core::panicking::panic_bounds_check>
