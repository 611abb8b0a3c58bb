# send: 118 instructions, release, one codegen unit, target-cpu x86-64
# made by rustc 1.95.0 (59807616e 2026-04-14), LLVM 22.1.2

    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 56
    mov r15, rdx
    mov rbx, rdi
    cmp rcx, qword ptr [rsi + 24]
    jae .L0
    mov edx, ecx
    jmp .L1
.L0:
    lea rdi, [rsi + 24]
    mov r14, rsi
    mov rsi, rcx
    mov ebp, r8d
    mov r12, rcx
    call <oxmpi_core::group::Group::link_of>
    mov rsi, r14
    mov rcx, r12
    mov r8d, ebp
    test al, 1
    je .L2
.L1:
    test r8d, r8d
    js .L2
    mov r14, qword ptr [rsi + 8]
    mov rax, qword ptr [r14 + 16]
    cmp dword ptr [rax], 1
    jne .L2
    mov r13d, r8d
    add r13, qword ptr [rsi + 16]
    dec dword ptr [r14 + 588]
    js .L2
    mov eax, edx
    cmp qword ptr [r14 + 880], rax
    jbe .L2
    mov r12, qword ptr [r14 + 872]
    shl rax, 8
    cmp dword ptr [r12 + rax + 96], 9
    jb .L2
    add r12, rax
    mov eax, dword ptr [r12 + 4]
    cmp eax, dword ptr [r12]
    je .L3
.L4:
    movabs rax, 17179869184
    mov rcx, qword ptr [r15]
    cmp byte ptr [r12 + 72], 2
    jne .L5
    mov rsi, qword ptr [r12 + 32]
    mov qword ptr [rsi + 16], rcx
    mov qword ptr [rsi + 8], r13
    mov ecx, dword ptr [r12]
    mov byte ptr [r12 + 72], 0
    mov dword ptr [r12 + 60], ecx
    inc dword ptr [r12 + 68]
    mov rcx, qword ptr [r12 + 48]
    lea rdi, [rcx + 16777224]
    add rax, rcx
    mov qword ptr [r12 + 48], rax
    mov qword ptr [rsi], rdi
    jmp .L6
.L5:
    mov esi, dword ptr [r12]
    mov edi, dword ptr [r12 + 56]
    and edi, esi
    mov r8, qword ptr [r12 + 16]
    shl rdi, 7
    mov qword ptr [r8 + rdi + 16], rcx
    mov qword ptr [r8 + rdi + 8], r13
    inc esi
    mov dword ptr [r12], esi
    mov rcx, qword ptr [r12 + 48]
    lea rsi, [rcx + 16777224]
    add rax, rcx
    mov qword ptr [r12 + 48], rax
    mov qword ptr [r8 + rdi], rsi
.L6:
    mov rax, qword ptr [r12 + 80]
    mov rax, qword ptr [rax]
    test al, 1
    jne .L7
.L8:
    movabs rax, -9223372036854775779
    mov qword ptr [rbx], rax
    jmp .L9
.L3:
    mov rdi, r12
    mov dword ptr [rsp + 4], edx
    mov ebp, r8d
    mov qword ptr [rsp + 16], rcx
    mov qword ptr [rsp + 8], rsi
    call <oxmpi_shm::transport::link::SendLink::poll_credits>
    mov rsi, qword ptr [rsp + 8]
    mov rcx, qword ptr [rsp + 16]
    mov r8d, ebp
    mov edx, dword ptr [rsp + 4]
    test al, al
    jne .L4
.L2:
    add rsi, 8
    mov qword ptr [rsp + 24], r15
    mov qword ptr [rsp + 32], 8
    mov qword ptr [rsp + 40], 8
    mov qword ptr [rsp + 48], 0
    lea rdx, [rsp + 24]
    mov rdi, rbx
    xor r9d, r9d
    call <oxmpi_core::communicator::messages::<impl oxmpi_core::communicator::Communicator<A>>::send>
.L9:
    mov rax, rbx
    add rsp, 56
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
.L7:
    add r14, 592
    mov rdi, r14
    mov esi, edx
    call <oxmpi_shm::transport::tx::ShmTx<B>::wake>
    jmp .L8
