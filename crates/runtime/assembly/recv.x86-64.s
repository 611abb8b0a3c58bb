# recv: 134 instructions, release, one codegen unit, target-cpu x86-64
# made by rustc 1.95.0 (59807616e 2026-04-14), LLVM 22.1.2

    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 120
    mov ebp, r8d
    mov r15, rcx
    mov r12, rdx
    mov r13, rsi
    mov rbx, rdi
    movabs r14, -9223372036854775779
    lea r11, [rsi + 8]
    cmp rcx, qword ptr [rsi + 24]
    jae .L0
    mov edx, r15d
    jmp .L1
.L0:
    lea rdi, [r13 + 24]
    mov rsi, r15
    call <oxmpi_core::group::Group::link_of>
    lea r11, [r13 + 8]
    test al, 1
    je .L2
.L1:
    mov r14, qword ptr [r13 + 8]
    mov rax, qword ptr [r14 + 16]
    cmp dword ptr [rax], 1
    jne .L3
    mov eax, edx
    cmp qword ptr [r14 + 432], rax
    jbe .L3
    mov rcx, qword ptr [r14 + 424]
    mov ecx, dword ptr [rcx + 4*rax]
    or ecx, dword ptr [r14 + 252]
    jne .L3
    cmp qword ptr [r14 + 2576], rax
    jbe .L3
    mov ecx, ebp
    add rcx, qword ptr [r13 + 16]
    lea rdx, [r14 + 592]
    mov rdi, qword ptr [r14 + 2568]
    shl rax, 7
    lea rsi, [rdi + rax]
    mov r8d, dword ptr [rdi + rax + 56]
    and r8d, dword ptr [rdi + rax + 40]
    mov r9, qword ptr [rdi + rax]
    shl r8, 7
    mov r10, qword ptr [r9 + r8]
    sub r10, qword ptr [rdi + rax + 32]
    cmp r10, 16777224
    jne .L4
    mov r10, qword ptr [r9 + r8 + 8]
    cmp r10, rcx
    jne .L4
    mov r8, qword ptr [r9 + r8 + 16]
    mov qword ptr [r12], r8
    movabs r8, 17179869184
    add qword ptr [rsi + 32], r8
    inc dword ptr [rsi + 40]
    dec dword ptr [rsi + 48]
    je .L5
    xor eax, eax
.L6:
    mov dword ptr [rsp + 20], ecx
    mov dword ptr [rsp + 24], 8
    jmp .L7
.L4:
    mov qword ptr [rsp + 48], r12
    mov qword ptr [rsp + 56], 8
    mov qword ptr [rsp + 64], 8
    mov qword ptr [rsp + 72], 0
    lea rdi, [rsp + 16]
    lea r9, [rsp + 48]
    mov r8, -1
    mov r14, r11
    call <oxmpi_shm::transport::rx::head::<impl oxmpi_shm::transport::rx::ShmRx<B>>::take_other>
    mov r11, r14
    movzx eax, byte ptr [rsp + 28]
    cmp al, 2
    jne .L7
.L3:
    movabs r14, -9223372036854775779
.L2:
    mov qword ptr [rsp + 16], r12
    mov qword ptr [rsp + 24], 8
    mov qword ptr [rsp + 32], 8
    mov qword ptr [rsp + 40], 0
    mov dword ptr [rsp], ebp
    lea rdi, [rsp + 48]
    lea rdx, [rsp + 16]
    mov ecx, 1
    mov rsi, r11
    mov r8, r15
    mov r9d, 1
    call <oxmpi_core::communicator::messages::<impl oxmpi_core::communicator::Communicator<A>>::recv_waiting>
    cmp qword ptr [rsp + 48], r14
    jne .L8
.L9:
    mov qword ptr [rbx], r14
    jmp .L10
.L8:
    mov rax, qword ptr [rsp + 112]
    mov qword ptr [rbx + 64], rax
    movups xmm0, xmmword ptr [rsp + 48]
    movups xmm1, xmmword ptr [rsp + 64]
    movups xmm2, xmmword ptr [rsp + 80]
    movups xmm3, xmmword ptr [rsp + 96]
    movups xmmword ptr [rbx + 48], xmm3
    movups xmmword ptr [rbx + 32], xmm2
    movups xmmword ptr [rbx + 16], xmm1
    movups xmmword ptr [rbx], xmm0
.L10:
    mov rax, rbx
    add rsp, 120
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
.L7:
    cmp al, 1
    movabs r14, -9223372036854775779
    jne .L9
    mov rdi, r11
    call <oxmpi_core::ownership::unlocked::progress>
    jmp .L9
.L5:
    add rdi, rax
    add rdi, 40
    mov r15, rsi
    mov r13, rcx
    mov r12, rdx
    mov rbp, r11
    call <oxmpi_shm::ring::credit::ReceiverCredits::report>
    mov esi, dword ptr [r15 + 64]
    mov rdi, r12
    call <oxmpi_shm::transport::tx::ShmTx<B>::credits_written>
    mov r11, rbp
    mov rcx, r13
    movzx eax, byte ptr [r14 + 1328]
    jmp .L6
