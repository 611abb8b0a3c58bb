# recv: 249 instructions, release, one codegen unit, target-cpu x86-64
# made by rustc 1.95.0 (59807616e 2026-04-14), LLVM 22.1.2

    push rbp
    push r15
    push r14
    push r12
    push rbx
    sub rsp, 208
    mov qword ptr [rsp + 96], rdx
    mov qword ptr [rsp + 104], 8
    mov qword ptr [rsp + 112], 8
    mov qword ptr [rsp + 120], 0
    mov rax, rcx
    shr rax, 32
    mov edx, dword ptr [rsi]
    je .L0
    mov eax, dword ptr [rsi + 16]
    test edx, edx
    je .L1
    mov rdx, qword ptr [rsi + 8]
    mov rdx, qword ptr [rdx + 32]
    jmp .L2
.L0:
    test edx, edx
    je .L3
    mov rax, qword ptr [rsi + 8]
    mov rdx, qword ptr [rax + 32]
    cmp rdx, rcx
    jbe .L4
    mov rax, qword ptr [rax + 24]
    mov ecx, dword ptr [rax + 4*rcx]
    jmp .L5
.L1:
    mov edx, dword ptr [rsi + 4]
    jmp .L2
.L3:
    mov edx, dword ptr [rsi + 4]
    cmp edx, ecx
    jbe .L4
.L5:
    test r8d, r8d
    js .L6
    mov r15, qword ptr [rsi + 24]
    cmp qword ptr [r15 + 16], 0
    jne .L7
    mov qword ptr [r15 + 16], -1
    cmp byte ptr [r15 + 1692], 0
    jne .L8
    mov rax, qword ptr [r15 + 1680]
    mov rax, qword ptr [rax + 16]
    mov eax, dword ptr [rax]
    test eax, eax
    je .L9
    mov r14, rdi
    lea rax, [r15 + 24]
    mov rbx, rsi
    mov r9d, dword ptr [rsi + 32]
    movups xmm0, xmmword ptr [rsp + 96]
    movups xmm1, xmmword ptr [rsp + 112]
    movaps xmmword ptr [rsp + 32], xmm1
    movaps xmmword ptr [rsp + 16], xmm0
    lea rdi, [rsp + 136]
    lea rdx, [rsp + 16]
    mov qword ptr [rsp + 8], rdx
    mov ebp, r8d
    mov dword ptr [rsp], r8d
    mov rsi, rax
    xor edx, edx
    mov r12, rcx
    mov r8d, r9d
    xor r9d, r9d
    call <oxmpi::raw::lane::Lane::recv_now>
    inc qword ptr [r15 + 16]
    movzx ecx, byte ptr [rsp + 152]
    cmp ecx, 2
    je .L10
    mov rdx, qword ptr [rsp + 136]
    cmp ecx, 3
    jne .L11
    mov rcx, rdx
    shr rcx, 32
    lea rdi, [rsp + 16]
    mov rsi, rbx
.L12:
    call <oxmpi::raw::communicator::Communicator<A>::wait>
    jmp .L13
.L4:
    mov eax, dword ptr [rsi + 16]
.L2:
    mov edx, edx
    mov esi, 5
.L14:
    mov qword ptr [rsp + 16], rsi
    mov dword ptr [rsp + 24], eax
    mov dword ptr [rsp + 28], 0
    mov qword ptr [rsp + 32], rcx
    mov qword ptr [rsp + 40], rdx
    mov rax, qword ptr [rsp + 16]
    cmp rax, 24
    je .L15
    jmp .L16
.L10:
    mov rsi, rbx
    mov eax, dword ptr [rbx + 16]
    cmp dword ptr [rbx], 1
    jne .L17
    mov rdx, qword ptr [rsi + 8]
    cmp qword ptr [rdx + 32], rax
    mov rcx, r12
    jbe .L18
    mov rdx, qword ptr [rdx + 24]
    mov eax, dword ptr [rdx + 4*rax]
    jmp .L19
.L11:
    mov eax, 19
    test cl, 1
    mov rdi, r14
    jne .L20
    mov rcx, qword ptr [rsp + 144]
    mov rax, rcx
    shr rax, 32
    cmp dword ptr [rbx], 1
    jne .L21
    mov rsi, qword ptr [rbx + 8]
    mov ecx, ecx
    cmp qword ptr [rsi + 56], rcx
    jbe .L22
    mov rsi, qword ptr [rsi + 48]
    mov ecx, dword ptr [rsi + 4*rcx]
    xor r8d, r8d
    cmp ecx, -1
    setne r8b
    jmp .L23
.L17:
    cmp eax, dword ptr [rsi + 4]
    mov rcx, r12
    jae .L18
.L19:
    cmp ecx, eax
    jne .L18
    mov r15, qword ptr [rsi + 24]
    cmp qword ptr [r15 + 16], 0
    jne .L7
    mov qword ptr [r15 + 16], -1
    cmp byte ptr [r15 + 1692], 0
    jne .L24
    mov rax, qword ptr [r15 + 1680]
    mov rax, qword ptr [rax + 16]
    mov eax, dword ptr [rax]
    test eax, eax
    je .L25
    lea rdi, [r15 + 24]
    mov eax, dword ptr [rsi + 32]
    movups xmm0, xmmword ptr [rsp + 96]
    movups xmm1, xmmword ptr [rsp + 112]
    movaps xmmword ptr [rsp + 144], xmm1
    movaps xmmword ptr [rsp + 128], xmm0
    lea rdx, [rsp + 128]
    mov qword ptr [rsp], rdx
    xor esi, esi
    mov edx, ecx
    mov ecx, eax
    xor r8d, r8d
    mov r9d, ebp
    call <oxmpi::raw::lane::Lane::irecv>
    mov ecx, edx
    inc qword ptr [r15 + 16]
    lea rdi, [rsp + 16]
    mov rsi, rbx
    mov edx, eax
    jmp .L12
.L18:
    lea rax, [rsp + 96]
    mov qword ptr [rsp], rax
    lea rdi, [rsp + 16]
    xor edx, edx
    xor r8d, r8d
    mov r9d, ebp
    call <oxmpi::raw::communicator::Communicator<A>::keep_receiving>
.L13:
    mov rax, qword ptr [rsp + 16]
    mov rdi, r14
    cmp rax, 24
    je .L15
    jmp .L16
.L21:
    xor r8d, r8d
    cmp dword ptr [rbx + 4], ecx
    seta r8b
    jmp .L23
.L22:
    xor r8d, r8d
.L23:
    mov ecx, ecx
    xor esi, esi
    test r8b, 1
    cmovne rsi, rcx
    mov qword ptr [rsp + 24], rsi
    mov qword ptr [rsp + 32], rdx
    mov dword ptr [rsp + 40], eax
    mov eax, 24
.L20:
    mov qword ptr [rsp + 16], rax
    cmp rax, 24
    jne .L16
.L15:
    mov qword ptr [rdi], 24
    jmp .L26
.L7:
    mov edi, offset .L27
    call <core::cell::panic_already_borrowed>
.L6:
    mov eax, dword ptr [rsi + 16]
    mov ecx, r8d
    mov esi, 6
    jmp .L14
.L8:
    mov eax, 19
    jmp .L28
.L9:
    mov eax, 21
.L28:
    mov qword ptr [r15 + 16], 0
    mov ecx, dword ptr [rsp + 153]
    mov edx, dword ptr [rsp + 156]
    mov dword ptr [rsp + 44], edx
    mov dword ptr [rsp + 41], ecx
    movups xmm0, xmmword ptr [rsp + 160]
    movups xmmword ptr [rsp + 48], xmm0
    movups xmm0, xmmword ptr [rsp + 176]
    movups xmmword ptr [rsp + 64], xmm0
    mov rcx, qword ptr [rsp + 192]
    mov qword ptr [rsp + 80], rcx
    mov qword ptr [rsp + 16], rax
.L16:
    mov rax, qword ptr [rsp + 80]
    mov qword ptr [rdi + 64], rax
    mov rax, qword ptr [rsp + 16]
    mov rcx, qword ptr [rsp + 24]
    mov rdx, qword ptr [rsp + 32]
    movzx esi, byte ptr [rsp + 40]
    mov r8d, dword ptr [rsp + 41]
    movzx r9d, word ptr [rsp + 45]
    movzx r10d, byte ptr [rsp + 47]
    movups xmm0, xmmword ptr [rsp + 48]
    movups xmm1, xmmword ptr [rsp + 64]
    movups xmmword ptr [rdi + 48], xmm1
    movups xmmword ptr [rdi + 32], xmm0
    mov qword ptr [rdi + 16], rdx
    mov byte ptr [rdi + 24], sil
    mov dword ptr [rdi + 25], r8d
    mov word ptr [rdi + 29], r9w
    mov byte ptr [rdi + 31], r10b
    mov qword ptr [rdi], rax
    mov qword ptr [rdi + 8], rcx
.L26:
    mov rax, rdi
    add rsp, 208
    pop rbx
    pop r12
    pop r14
    pop r15
    pop rbp
    ret
.L24:
    mov eax, 19
    jmp .L29
.L25:
    mov eax, 21
.L29:
    mov qword ptr [r15 + 16], 0
    mov qword ptr [rsp + 16], rax
    mov rdi, r14
    jmp .L16
.L30:
    inc qword ptr [r15 + 16]
    mov rdi, rax
    call _Unwind_Resume@PLT
.L31:
    inc qword ptr [r15 + 16]
    mov rdi, rax
    call _Unwind_Resume@PLT
