# send: 126 instructions, release, one codegen unit, target-cpu x86-64
# made by rustc 1.95.0 (59807616e 2026-04-14), LLVM 22.1.2

    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 56
    mov r14, rdx
    mov rbx, rdi
    cmp rcx, qword ptr [rsi + 24]
    jae .L0
    mov edx, ecx
    jmp .L1
.L0:
    lea rdi, [rsi + 24]
    mov r15, rsi
    mov rsi, rcx
    mov ebp, r8d
    mov r12, rcx
    call <oxmpi_core::group::Group::link_of>
    mov rsi, r15
    mov rcx, r12
    mov r8d, ebp
    test al, 1
    je .L2
.L1:
    test r8d, r8d
    js .L2
    mov rdi, qword ptr [rsi + 8]
    mov rax, qword ptr [rdi + 16]
    cmp dword ptr [rax], 1
    jne .L2
    mov r12d, r8d
    add r12, qword ptr [rsi + 16]
    sub dword ptr [rdi + 540], 1
    jb .L3
    mov eax, edx
    cmp qword ptr [rdi + 832], rax
    jbe .L2
    mov r15, qword ptr [rdi + 824]
    shl rax, 8
    cmp dword ptr [r15 + rax + 96], 9
    jb .L2
    add r15, rax
    mov eax, dword ptr [r15 + 4]
    cmp eax, dword ptr [r15]
    je .L4
.L5:
    movabs rax, 17179869184
    mov rcx, qword ptr [r14]
    cmp byte ptr [r15 + 72], 2
    jne .L6
    mov rsi, qword ptr [r15 + 32]
    mov qword ptr [rsi + 16], rcx
    mov qword ptr [rsi + 8], r12
    mov ecx, dword ptr [r15]
    mov byte ptr [r15 + 72], 0
    mov dword ptr [r15 + 60], ecx
    inc dword ptr [r15 + 68]
    mov rcx, qword ptr [r15 + 48]
    lea r8, [rcx + 16777224]
    add rax, rcx
    mov qword ptr [r15 + 48], rax
    mov qword ptr [rsi], r8
    jmp .L7
.L6:
    mov esi, dword ptr [r15 + 56]
    and esi, dword ptr [r15]
    mov r8, qword ptr [r15 + 16]
    shl rsi, 7
    mov qword ptr [r8 + rsi + 16], rcx
    mov qword ptr [r8 + rsi + 8], r12
    inc dword ptr [r15]
    mov rcx, qword ptr [r15 + 48]
    lea r9, [rcx + 16777224]
    add rax, rcx
    mov qword ptr [r15 + 48], rax
    mov qword ptr [r8 + rsi], r9
.L7:
    mov rax, qword ptr [r15 + 80]
    mov rax, qword ptr [rax]
    test al, 1
    jne .L8
.L9:
    movabs rax, -9223372036854775784
    mov qword ptr [rbx], rax
    jmp .L10
.L3:
    add rdi, 24
    mov ebp, r8d
    mov r12, rcx
    mov r15, rsi
    call <oxmpi_wire::engine::send::<impl oxmpi_wire::engine::Engine<T>>::poll_first>
    mov rsi, r15
    mov rcx, r12
    mov r8d, ebp
.L2:
    add rsi, 8
    mov qword ptr [rsp + 24], r14
    mov qword ptr [rsp + 32], 8
    mov qword ptr [rsp + 40], 8
    mov qword ptr [rsp + 48], 0
    lea rdx, [rsp + 24]
    mov rdi, rbx
    xor r9d, r9d
    call <oxmpi_core::communicator::messages::<impl oxmpi_core::communicator::Communicator<A>>::send>
.L10:
    mov rax, rbx
    add rsp, 56
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
.L4:
    mov qword ptr [rsp + 16], rdi
    mov rdi, r15
    mov dword ptr [rsp + 4], edx
    mov ebp, r8d
    mov qword ptr [rsp + 8], rcx
    mov r13, rsi
    call <oxmpi_shm::transport::link::SendLink::poll_credits>
    mov rsi, r13
    mov rcx, qword ptr [rsp + 8]
    mov rdi, qword ptr [rsp + 16]
    mov r8d, ebp
    mov edx, dword ptr [rsp + 4]
    test al, al
    jne .L5
    jmp .L2
.L8:
    add rdi, 544
    mov esi, edx
    call <oxmpi_shm::transport::tx::ShmTx<B>::wake>
    jmp .L9
