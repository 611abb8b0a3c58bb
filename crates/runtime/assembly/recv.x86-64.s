# recv: 148 instructions, release, one codegen unit, target-cpu x86-64
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
    mov rbx, rdi
    mov r14d, r8d
    add r14, qword ptr [rsi + 8]
    cmp rcx, qword ptr [rsi + 16]
    jae .L0
    mov edx, r15d
    jmp .L1
.L0:
    lea rdi, [rsi + 16]
    mov r13, rsi
    mov rsi, r15
    call <oxmpi::raw::group::Group::link_of>
    mov rsi, r13
    test al, 1
    je .L2
.L1:
    mov r13, qword ptr [rsi]
    mov rax, qword ptr [r13 + 16]
    cmp dword ptr [rax], 1
    jne .L2
    mov eax, edx
    cmp qword ptr [r13 + 432], rax
    jbe .L2
    mov rcx, qword ptr [r13 + 424]
    mov edx, dword ptr [r13 + 520]
    or edx, dword ptr [rcx + 8*rax + 4]
    jne .L2
    cmp qword ptr [r13 + 1448], rax
    jbe .L2
    lea rdx, [r13 + 536]
    mov rcx, qword ptr [r13 + 1440]
    shl rax, 7
    lea r11, [rcx + rax]
    mov r9d, dword ptr [rcx + rax + 16]
    mov edi, dword ptr [rcx + rax + 32]
    and edi, r9d
    mov r8, qword ptr [rcx + rax]
    shl rdi, 7
    not r9d
    shl r9, 32
    mov r10, qword ptr [r8 + rdi]
    add r10, r9
    cmp r10, 16777224
    jne .L3
    mov r9, qword ptr [r8 + rdi + 8]
    cmp r9, r14
    jne .L2
    mov rdi, qword ptr [r8 + rdi + 16]
    mov qword ptr [r12], rdi
    inc dword ptr [r11 + 16]
    dec dword ptr [r11 + 24]
    je .L4
    xor eax, eax
    jmp .L5
.L3:
    mov qword ptr [rsp + 48], r12
    mov qword ptr [rsp + 56], 8
    mov qword ptr [rsp + 64], 8
    mov qword ptr [rsp + 72], 0
    lea rdi, [rsp + 16]
    lea r9, [rsp + 48]
    mov r13, rsi
    mov rsi, r11
    mov rcx, r14
    mov r8, -1
    call <oxmpi_shm::transport::rx::ShmRx<B>::take_other>
    mov rsi, r13
    movzx eax, byte ptr [rsp + 28]
    cmp al, 2
    jne .L6
.L2:
    mov qword ptr [rsp + 16], r12
    mov qword ptr [rsp + 24], 8
    mov qword ptr [rsp + 32], 8
    mov qword ptr [rsp + 40], 0
    mov dword ptr [rsp], ebp
    lea rdi, [rsp + 48]
    lea rdx, [rsp + 16]
    mov ecx, 1
    mov r8, r15
    mov r9d, 1
    call <oxmpi::raw::communicator::Communicator<A>::recv>
    movabs r14, -9223372036854775789
    cmp qword ptr [rsp + 48], r14
    jne .L7
.L8:
    mov qword ptr [rbx], r14
    jmp .L9
.L7:
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
.L9:
    mov rax, rbx
    add rsp, 120
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
.L4:
    mov r15, rdx
    mov r12, rsi
    lea rdi, [rcx + rax]
    add rdi, 16
    mov rsi, r11
    mov rbp, r11
    call <oxmpi_shm::ring::credit::Freed::tell>
    mov eax, dword ptr [rbp + 40]
    mov rsi, qword ptr [r13 + 824]
    cmp rsi, rax
    jbe .L10
    mov rcx, qword ptr [r13 + 816]
    mov rdx, rax
    shl rdx, 7
    mov rcx, qword ptr [rcx + rdx + 40]
    mov rcx, qword ptr [rcx]
    test cl, 1
    mov rsi, r12
    jne .L11
.L12:
    movzx eax, byte ptr [r13 + 1240]
.L5:
    mov dword ptr [rsp + 20], r14d
    mov dword ptr [rsp + 24], 8
.L6:
    cmp al, 1
    movabs r14, -9223372036854775789
    jne .L8
    mov rdi, rsi
    call <oxmpi::raw::access::Own::progress>
    jmp .L8
.L11:
    mov rdi, r15
    mov esi, eax
    call <oxmpi_shm::transport::tx::ShmTx<B>::wake>
    mov rsi, r12
    jmp .L12
.L10:
    mov edx, offset .L13
    mov rdi, rax
    call <core::panicking::panic_bounds_check>
