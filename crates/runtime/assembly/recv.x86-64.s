# recv: 159 instructions, release, one codegen unit, target-cpu x86-64
# made by rustc 1.95.0 (59807616e 2026-04-14), LLVM 22.1.2

    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 136
    mov ebp, r8d
    mov r15, rcx
    mov r12, rdx
    mov r13, rsi
    mov rbx, rdi
    lea r14, [rsi + 8]
    cmp rcx, qword ptr [rsi + 24]
    jae .L0
    mov edx, r15d
    jmp .L1
.L0:
    lea rdi, [r13 + 24]
    mov rsi, r15
    call <oxmpi_core::group::Group::link_of>
    test al, 1
    je .L2
.L1:
    mov rcx, qword ptr [r13 + 16]
    mov r13, qword ptr [r13 + 8]
    mov rax, qword ptr [r13 + 16]
    cmp dword ptr [rax], 1
    jne .L3
    mov eax, edx
    cmp qword ptr [r13 + 416], rax
    jbe .L3
    mov rsi, qword ptr [r13 + 408]
    mov esi, dword ptr [rsi + 4*rax]
    or esi, dword ptr [r13 + 536]
    jne .L3
    cmp qword ptr [r13 + 2056], rax
    jbe .L3
    mov r10d, ebp
    add r10, rcx
    lea rsi, [r13 + 552]
    mov qword ptr [rsp + 56], rsi
    mov rsi, qword ptr [r13 + 2048]
    shl rax, 7
    lea r11, [rsi + rax]
    mov edi, dword ptr [rsi + rax + 56]
    and edi, dword ptr [rsi + rax + 40]
    mov r8, qword ptr [rsi + rax]
    shl rdi, 7
    mov r9, qword ptr [r8 + rdi]
    sub r9, qword ptr [rsi + rax + 32]
    cmp r9, 16777224
    jne .L4
    mov r9, qword ptr [r8 + rdi + 8]
    cmp r9, r10
    jne .L3
    mov rcx, qword ptr [r8 + rdi + 16]
    mov qword ptr [r12], rcx
    movabs rcx, 17179869184
    add qword ptr [r11 + 32], rcx
    inc dword ptr [r11 + 40]
    dec dword ptr [r11 + 48]
    je .L5
    xor eax, eax
.L6:
    mov dword ptr [rsp + 28], r10d
    mov dword ptr [rsp + 32], 8
    jmp .L7
.L4:
    mov rax, r9
    shr rax, 32
    sete al
    add r9d, -16777216
    cmp r9d, 113
    setb sil
    test al, sil
    je .L3
    mov qword ptr [rsp + 64], r12
    mov qword ptr [rsp + 72], 8
    mov qword ptr [rsp + 80], 8
    mov qword ptr [rsp + 88], 0
    lea rdi, [rsp + 24]
    lea r9, [rsp + 64]
    mov rsi, r11
    mov dword ptr [rsp + 20], edx
    mov rdx, qword ptr [rsp + 56]
    mov r13, rcx
    mov rcx, r10
    mov r8, -1
    call <oxmpi_shm::transport::rx::fast_path::<impl oxmpi_shm::transport::rx::ShmRx<B>>::take_other>
    mov rcx, r13
    mov edx, dword ptr [rsp + 20]
    movzx eax, byte ptr [rsp + 36]
    cmp al, 2
    jne .L7
.L3:
    shr rcx, 32
    mov qword ptr [rsp + 64], r12
    mov qword ptr [rsp + 72], 8
    mov qword ptr [rsp + 80], 8
    mov qword ptr [rsp + 88], 0
    lea rax, [rsp + 64]
    mov qword ptr [rsp], rax
    lea rdi, [rsp + 24]
    mov rsi, r14
    xor r8d, r8d
    mov r9d, ebp
    call <<oxmpi_core::ownership::single::Single as oxmpi_core::threading::sealed::EndpointAccess>::recv_short>
    cmp byte ptr [rsp + 40], 2
    jne .L8
.L2:
    mov qword ptr [rsp + 24], r12
    mov qword ptr [rsp + 32], 8
    mov qword ptr [rsp + 40], 8
    mov qword ptr [rsp + 48], 0
    mov dword ptr [rsp], ebp
    lea rdi, [rsp + 64]
    lea rdx, [rsp + 24]
    mov ecx, 1
    mov rsi, r14
    mov r8, r15
    mov r9d, 1
    call <oxmpi_core::communicator::messages::<impl oxmpi_core::communicator::Communicator<A>>::recv>
    movabs rax, -9223372036854775785
    cmp qword ptr [rsp + 64], rax
    jne .L9
.L8:
    movabs rax, -9223372036854775785
    mov qword ptr [rbx], rax
    jmp .L10
.L9:
    mov rax, qword ptr [rsp + 128]
    mov qword ptr [rbx + 64], rax
    movups xmm0, xmmword ptr [rsp + 64]
    movups xmm1, xmmword ptr [rsp + 80]
    movups xmm2, xmmword ptr [rsp + 96]
    movups xmm3, xmmword ptr [rsp + 112]
    movups xmmword ptr [rbx + 48], xmm3
    movups xmmword ptr [rbx + 32], xmm2
    movups xmmword ptr [rbx + 16], xmm1
    movups xmmword ptr [rbx], xmm0
.L10:
    mov rax, rbx
    add rsp, 136
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
.L7:
    cmp al, 1
    jne .L8
    mov rdi, r14
    call <oxmpi_core::ownership::single::Single::progress>
    jmp .L8
.L5:
    mov r12, r11
    lea rdi, [rsi + rax]
    add rdi, 40
    mov rsi, r11
    mov r15, r10
    call <oxmpi_shm::ring::credit::ReceiverCredits::report>
    mov esi, dword ptr [r12 + 64]
    lea rdi, [r13 + 552]
    call <oxmpi_shm::transport::tx::ShmTx<B>::credits_written>
    mov r10, r15
    movzx eax, byte ptr [r13 + 1288]
    jmp .L6
