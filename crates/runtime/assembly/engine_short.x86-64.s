# engine_short: 94 instructions, release, one codegen unit, target-cpu x86-64
# made by rustc 1.95.0 (59807616e 2026-04-14), LLVM 22.1.2

    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    push rax
    sub dword ptr [rdi + 516], 1
    jb .L0
    mov eax, edx
    cmp qword ptr [rsi + 288], rax
    jbe .L1
    mov rbx, qword ptr [rsi + 280]
    shl rax, 8
    cmp dword ptr [rbx + rax + 96], 9
    jae .L2
.L1:
    xor eax, eax
    jmp .L3
.L2:
    add rbx, rax
    mov eax, dword ptr [rbx + 4]
    cmp eax, dword ptr [rbx]
    je .L4
.L5:
    mov rax, qword ptr [r9]
    cmp byte ptr [rbx + 72], 2
    jne .L6
    mov rdi, qword ptr [rbx + 32]
    mov qword ptr [rdi + 16], rax
    shl rcx, 32
    mov eax, r8d
    or rax, rcx
    mov qword ptr [rdi + 8], rax
    mov eax, dword ptr [rbx]
    mov byte ptr [rbx + 72], 0
    mov dword ptr [rbx + 60], eax
    inc dword ptr [rbx + 68]
    mov rax, qword ptr [rbx + 48]
    lea rcx, [rax + 16777224]
    movabs r8, 17179869184
    add r8, rax
    mov qword ptr [rbx + 48], r8
    mov qword ptr [rdi], rcx
    jmp .L7
.L6:
    mov edi, dword ptr [rbx + 56]
    and edi, dword ptr [rbx]
    mov r9, qword ptr [rbx + 16]
    shl rdi, 7
    mov qword ptr [r9 + rdi + 16], rax
    shl rcx, 32
    mov eax, r8d
    or rax, rcx
    mov qword ptr [r9 + rdi + 8], rax
    inc dword ptr [rbx]
    mov rax, qword ptr [rbx + 48]
    lea rcx, [rax + 16777224]
    movabs r8, 17179869184
    add r8, rax
    mov qword ptr [rbx + 48], r8
    mov qword ptr [r9 + rdi], rcx
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
.L0:
    call <oxmpi_wire::engine::send::<impl oxmpi_wire::engine::Engine<T>>::poll_first>
    xor eax, eax
    jmp .L3
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
    je .L1
    jmp .L5
.L8:
    mov rdi, rsi
    mov esi, edx
    call <oxmpi_shm::transport::tx::ShmTx<B>::wake>
    mov al, 1
    jmp .L3
