# engine_short: 91 instructions, release, one codegen unit, target-cpu x86-64
# made by rustc 1.95.0 (59807616e 2026-04-14), LLVM 22.1.2

    dec dword ptr [rdi + 548]
    js .L0
    mov eax, edx
    cmp qword ptr [rsi + 288], rax
    jbe .L0
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    push rax
    mov rbx, qword ptr [rsi + 280]
    shl rax, 8
    cmp dword ptr [rbx + rax + 96], 9
    jae .L1
.L2:
    xor eax, eax
    jmp .L3
.L0:
    xor eax, eax
    ret
.L1:
    add rbx, rax
    mov eax, dword ptr [rbx + 4]
    cmp eax, dword ptr [rbx]
    je .L4
.L5:
    movabs rax, 17179869184
    mov rdi, qword ptr [r9]
    shl rcx, 32
    mov r8d, r8d
    or r8, rcx
    cmp byte ptr [rbx + 72], 2
    jne .L6
    mov rcx, qword ptr [rbx + 32]
    mov qword ptr [rcx + 16], rdi
    mov qword ptr [rcx + 8], r8
    mov edi, dword ptr [rbx]
    mov byte ptr [rbx + 72], 0
    mov dword ptr [rbx + 60], edi
    inc dword ptr [rbx + 68]
    mov rdi, qword ptr [rbx + 48]
    lea r8, [rdi + 16777224]
    add rax, rdi
    mov qword ptr [rbx + 48], rax
    mov qword ptr [rcx], r8
    jmp .L7
.L6:
    mov ecx, dword ptr [rbx]
    mov r9d, dword ptr [rbx + 56]
    and r9d, ecx
    mov r10, qword ptr [rbx + 16]
    shl r9, 7
    mov qword ptr [r10 + r9 + 16], rdi
    mov qword ptr [r10 + r9 + 8], r8
    inc ecx
    mov dword ptr [rbx], ecx
    mov rcx, qword ptr [rbx + 48]
    lea rdi, [rcx + 16777224]
    add rax, rcx
    mov qword ptr [rbx + 48], rax
    mov qword ptr [r10 + r9], rdi
.L7:
    mov rax, qword ptr [rbx + 80]
    mov rcx, qword ptr [rax]
    mov al, 1
    test cl, 1
    jne .L8
.L3:
    add rsp, 8
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
.L4:
    mov rdi, rbx
    mov ebp, edx
    mov r12, rsi
    mov r14, rcx
    mov r13d, r8d
    mov r15, r9
    call <oxmpi_shm::transport::link::SendLink::poll_credits>
    mov r9, r15
    mov r8d, r13d
    mov rcx, r14
    mov rsi, r12
    mov edx, ebp
    test al, al
    je .L2
    jmp .L5
.L8:
    mov rdi, rsi
    mov esi, edx
    call <oxmpi_shm::transport::tx::ShmTx<B>::wake>
    mov al, 1
    jmp .L3
