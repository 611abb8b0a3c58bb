# recv: 184 instructions, release, one codegen unit, target-cpu x86-64
# made by rustc 1.95.0 (59807616e 2026-04-14), LLVM 22.1.2

    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 136
    mov r9d, r8d
    mov r15, rcx
    mov r13, rdx
    mov r14, rsi
    mov rbx, rdi
    movabs r12, -9223372036854775789
    cmp rcx, qword ptr [rsi + 16]
    jae .L0
    mov qword ptr [rsp + 16], r13
    mov qword ptr [rsp + 24], rbx
    mov r10d, r15d
    jmp .L1
.L0:
    mov ebp, r9d
    lea rdi, [r14 + 16]
    mov rsi, r15
    call <oxmpi::raw::group::Group::link_of>
    test al, 1
    je .L2
    mov r10d, edx
    mov qword ptr [rsp + 16], r13
    mov qword ptr [rsp + 24], rbx
    mov r9d, ebp
.L1:
    mov rbp, qword ptr [r14 + 8]
    mov r13, qword ptr [r14]
    mov rax, qword ptr [r13 + 16]
    cmp dword ptr [rax], 1
    jne .L3
    mov eax, r10d
    cmp qword ptr [r13 + 416], rax
    jbe .L3
    mov rcx, qword ptr [r13 + 408]
    mov edx, dword ptr [r13 + 504]
    or edx, dword ptr [rcx + 8*rax + 4]
    jne .L3
    cmp qword ptr [r13 + 1432], rax
    jbe .L3
    mov r12d, r9d
    add r12, rbp
    lea rdx, [r13 + 520]
    mov rcx, qword ptr [r13 + 1424]
    shl rax, 7
    lea rbx, [rcx + rax]
    mov edi, dword ptr [rcx + rax + 16]
    mov r11d, dword ptr [rcx + rax + 32]
    and r11d, edi
    mov rsi, qword ptr [rcx + rax]
    shl r11, 7
    not edi
    shl rdi, 32
    mov r8, qword ptr [rsi + r11]
    add rdi, r8
    add rdi, -16777216
    cmp rdi, 8
    jne .L4
    mov rdi, qword ptr [rsi + r11 + 8]
    cmp rdi, r12
    jne .L3
    mov rdi, qword ptr [rsi + r11 + 16]
    mov rsi, qword ptr [rsp + 16]
    mov qword ptr [rsi], rdi
    inc dword ptr [rbx + 16]
    dec dword ptr [rbx + 24]
    je .L5
    xor eax, eax
    jmp .L6
.L4:
    cmp rdi, 112
    ja .L3
    mov rax, qword ptr [rsp + 16]
    mov qword ptr [rsp + 64], rax
    mov qword ptr [rsp + 72], 8
    mov qword ptr [rsp + 80], 8
    mov qword ptr [rsp + 88], 0
    lea rdi, [rsp + 32]
    mov r13d, r9d
    lea r9, [rsp + 64]
    mov rsi, rbx
    mov rcx, r12
    mov r8, -1
    mov ebx, r10d
    call <oxmpi_shm::transport::rx::ShmRx<B>::take_other>
    mov r10d, ebx
    mov r9d, r13d
    movzx eax, byte ptr [rsp + 44]
    cmp al, 2
    je .L3
    cmp al, 1
    mov rbx, qword ptr [rsp + 24]
    movabs r12, -9223372036854775789
    jne .L7
    jmp .L8
.L3:
    shr rbp, 32
    mov r13, qword ptr [rsp + 16]
    mov qword ptr [rsp + 64], r13
    mov qword ptr [rsp + 72], 8
    mov qword ptr [rsp + 80], 8
    mov qword ptr [rsp + 88], 0
    lea rax, [rsp + 64]
    mov qword ptr [rsp], rax
    lea rdi, [rsp + 32]
    mov rsi, r14
    mov edx, r10d
    mov ecx, ebp
    xor r8d, r8d
    mov ebp, r9d
    call <<oxmpi::raw::access::Own as oxmpi::raw::access::sealed::Reach>::recv_short>
    cmp byte ptr [rsp + 48], 2
    mov rbx, qword ptr [rsp + 24]
    movabs r12, -9223372036854775789
    jne .L7
.L2:
    mov qword ptr [rsp + 32], r13
    mov qword ptr [rsp + 40], 8
    mov qword ptr [rsp + 48], 8
    mov qword ptr [rsp + 56], 0
    mov dword ptr [rsp], ebp
    lea rdi, [rsp + 64]
    lea rdx, [rsp + 32]
    mov ecx, 1
    mov rsi, r14
    mov r8, r15
    mov r9d, 1
    call <oxmpi::raw::communicator::Communicator<A>::recv>
    cmp qword ptr [rsp + 64], r12
    je .L7
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
    jmp .L9
.L5:
    mov r15, rdx
    lea rdi, [rcx + rax]
    add rdi, 16
    mov rsi, rbx
    call <oxmpi_shm::ring::credit::Freed::tell>
    mov esi, dword ptr [rbx + 40]
    mov rax, qword ptr [r13 + 808]
    cmp rax, rsi
    jbe .L10
    mov rax, qword ptr [r13 + 800]
    mov rcx, rsi
    shl rcx, 7
    mov rax, qword ptr [rax + rcx + 40]
    mov rax, qword ptr [rax]
    test al, 1
    jne .L11
.L12:
    movzx eax, byte ptr [r13 + 1224]
.L6:
    mov dword ptr [rsp + 36], r12d
    mov dword ptr [rsp + 40], 8
    cmp al, 1
    mov rbx, qword ptr [rsp + 24]
    movabs r12, -9223372036854775789
    je .L8
.L7:
    mov qword ptr [rbx], r12
.L9:
    mov rax, rbx
    add rsp, 136
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
.L8:
    mov rdi, r14
    call <oxmpi::raw::access::Own::progress>
    jmp .L7
.L11:
    mov rdi, r15
    call <oxmpi_shm::transport::tx::ShmTx<B>::wake>
    jmp .L12
.L10:
    mov edx, offset .L13
    mov rdi, rsi
    mov rsi, rax
    call <core::panicking::panic_bounds_check>
