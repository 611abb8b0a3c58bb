# engine_short: 98 instructions, release, one codegen unit, target-cpu x86-64
# made by rustc 1.95.0 (59807616e 2026-04-14), LLVM 22.1.2

    mov eax, edx
    cmp qword ptr [rdi + 392], rax
    jbe .L0
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    push rax
    mov r10, qword ptr [rdi + 384]
    cmp dword ptr [r10 + 8*rax], 9
    jb .L1
    sub dword ptr [rdi + 488], 1
    jb .L2
    cmp qword ptr [rsi + 288], rax
    jbe .L1
    mov rdi, qword ptr [rsi + 280]
    shl rax, 8
    lea rbx, [rdi + rax]
    mov r10d, dword ptr [rdi + rax + 4]
    cmp r10d, dword ptr [rdi + rax]
    je .L3
.L4:
    movabs rax, 17179869184
    mov rdi, qword ptr [r9]
    cmp byte ptr [rbx + 72], 2
    jne .L5
    mov r9, qword ptr [rbx + 32]
    mov qword ptr [r9 + 16], rdi
    shl rcx, 32
    mov edi, r8d
    or rdi, rcx
    mov qword ptr [r9 + 8], rdi
    mov ecx, dword ptr [rbx]
    mov byte ptr [rbx + 72], 0
    mov dword ptr [rbx + 60], ecx
    inc dword ptr [rbx + 68]
    mov rcx, qword ptr [rbx + 48]
    lea rdi, [rcx + rax]
    mov qword ptr [rbx + 48], rdi
    add rax, rcx
    add rax, 16777224
    mov qword ptr [r9], rax
    jmp .L6
.L0:
    xor eax, eax
    ret
.L5:
    mov r9d, dword ptr [rbx + 56]
    and r9d, dword ptr [rbx]
    mov r10, qword ptr [rbx + 16]
    shl r9, 7
    mov qword ptr [r10 + r9 + 16], rdi
    shl rcx, 32
    mov edi, r8d
    or rdi, rcx
    mov qword ptr [r10 + r9 + 8], rdi
    inc dword ptr [rbx]
    mov rcx, qword ptr [rbx + 48]
    lea rdi, [rcx + rax]
    mov qword ptr [rbx + 48], rdi
    add rax, rcx
    add rax, 16777224
    mov qword ptr [r10 + r9], rax
.L6:
    mov rax, qword ptr [rbx + 80]
    mov rcx, qword ptr [rax]
    mov al, 1
    test cl, 1
    je .L7
    mov rdi, rsi
    mov esi, edx
    call <oxmpi_shm::transport::tx::ShmTx<B>::wake>
    mov al, 1
    jmp .L7
.L2:
    call <oxmpi_wire::engine::send::<impl oxmpi_wire::engine::Engine<T>>::poll_first>
    xor eax, eax
    jmp .L7
.L3:
    mov rdi, rbx
    mov ebp, edx
    mov r12, rsi
    mov r14, rcx
    mov r13d, r8d
    mov r15, r9
    call <oxmpi_shm::transport::link::Out::look>
    mov r9, r15
    mov r8d, r13d
    mov rcx, r14
    mov rsi, r12
    mov edx, ebp
    test al, al
    jne .L4
.L1:
    xor eax, eax
.L7:
    add rsp, 8
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
