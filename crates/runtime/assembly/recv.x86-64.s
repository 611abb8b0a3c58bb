# recv: 910 instructions, release, one codegen unit, target-cpu x86-64
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
    cmp byte ptr [r15 + 1900], 0
    jne .L8
    mov rax, qword ptr [r15 + 1888]
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
    cmp byte ptr [r15 + 1900], 0
    jne .L24
    mov rax, qword ptr [r15 + 1888]
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

# oxmpi::raw::lane::Lane::recv_now
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 184
    mov r11d, r9d
    mov r10d, ecx
    mov r12, rsi
    mov esi, edx
    mov rbx, rdi
    mov rbp, qword ptr [rsp + 248]
    mov r9d, dword ptr [rsp + 240]
    mov eax, r11d
    or eax, edx
    je .L32
.L33:
    movups xmm0, xmmword ptr [rbp]
    movups xmm1, xmmword ptr [rbp + 16]
    movaps xmmword ptr [rsp + 96], xmm1
    movaps xmmword ptr [rsp + 80], xmm0
    lea rax, [rsp + 80]
    mov qword ptr [rsp], rax
    mov rdi, r12
    mov edx, r10d
    mov ecx, r8d
    mov r8d, r11d
    call <oxmpi::raw::lane::Lane::irecv>
    mov dword ptr [rbx], eax
    mov al, 3
    mov ecx, 4
.L34:
    mov dword ptr [rbx + rcx], edx
.L35:
    mov byte ptr [rbx + 16], al
    add rsp, 184
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
.L32:
    mov dword ptr [rsp + 76], esi
    mov qword ptr [rsp + 128], rbx
    mov r15d, r10d
    lea rax, [r12 + 480]
    mov qword ptr [rsp + 152], rax
    mov rax, r8
    shl rax, 32
    mov ecx, r9d
    or rcx, rax
    mov qword ptr [rsp + 176], rcx
    xor ebx, ebx
    imul rdx, r15, 112
    mov dword ptr [rsp + 24], r10d
    mov dword ptr [rsp + 20], r11d
    mov qword ptr [rsp + 48], rdx
    mov qword ptr [rsp + 168], r8
    mov qword ptr [rsp + 160], r15
.L36:
    mov rsi, qword ptr [r12 + 384]
    cmp rsi, r15
    jbe .L37
    mov rax, qword ptr [r12 + 376]
    mov ecx, dword ptr [r12 + 472]
    or ecx, dword ptr [rax + rdx + 100]
    jne .L38
    mov qword ptr [rsp + 88], r12
    mov dword ptr [rsp + 112], r10d
    mov rax, qword ptr [rsp + 176]
    mov qword ptr [rsp + 104], rax
    mov qword ptr [rsp + 96], rbp
    mov byte ptr [rsp + 116], 1
    mov dword ptr [rsp + 80], 0
    mov rsi, qword ptr [r12 + 1376]
    cmp rsi, r15
    jbe .L39
    mov rax, qword ptr [r12 + 1368]
    mov eax, dword ptr [rax + 4*r15]
    cmp qword ptr [r12 + 1352], rax
    jbe .L40
    mov r13, qword ptr [r12 + 1344]
    lea rax, [rax + 4*rax]
    shl rax, 4
    mov ecx, dword ptr [r13 + rax + 32]
    and ecx, dword ptr [r13 + rax + 16]
    mov rdx, qword ptr [r13 + rax]
    shl rcx, 7
    mov r14, qword ptr [rdx + rcx]
    mov edi, dword ptr [r13 + rax + 16]
    lea ecx, [rdi + 1]
    mov rdx, r14
    shr rdx, 32
    cmp ecx, edx
    jne .L41
    mov qword ptr [rsp + 32], rdx
    mov dword ptr [rsp + 28], ecx
    add r13, rax
    and edi, dword ptr [r13 + 32]
    mov rcx, qword ptr [r13]
    shl rdi, 7
    mov r8, qword ptr [rcx + rdi + 8]
    mov rax, r14
    shr rax, 24
    lea edx, [rax - 1]
    cmp dl, 8
    setb dl
    test r14d, 16252928
    sete sil
    test sil, dl
    je .L42
    mov r15, r8
    shr r15, 32
    movzx edx, r14w
    mov dword ptr [rsp + 44], edx
    mov rdx, r8
    shr rdx, 8
    mov r11, r8
    shr r11, 16
    mov rsi, r14
    shr rsi, 16
    movzx r10d, r14w
    cmp r10, 49
    setb bpl
    and r14d, -16777216
    cmp r14d, 100663296
    setne r9b
    test bpl, r9b
    jne .L43
    mov dword ptr [rsp + 56], r15d
    shl r11d, 16
    shl edx, 8
    movzx ecx, dx
    or ecx, r11d
    movzx edx, r8b
    or edx, ecx
    mov dword ptr [rsp + 60], edx
    mov ecx, dword ptr [rsp + 44]
    mov dword ptr [rsp + 64], ecx
    shl eax, 8
    movzx ecx, sil
    or ecx, eax
    mov word ptr [rsp + 68], cx
    mov rdi, r13
    lea rsi, [r12 + 480]
    lea rdx, [rsp + 56]
    lea rcx, [rsp + 80]
    call <oxmpi_shm::transport::rx::ShmRx<B>::long>
    jmp .L44
.L40:
    mov rax, qword ptr [r12 + 1456]
    mov rcx, qword ptr [r12 + 1472]
    mov rax, qword ptr [rax + 8*rcx]
    xor r13d, r13d
    cmp rax, qword ptr [r12 + 1488]
    jne .L45
    cmp byte ptr [r12 + 1180], 0
    jne .L46
.L47:
    test r13d, r13d
    jne .L48
.L49:
    mov eax, dword ptr [r12 + 1512]
    inc eax
    mov dword ptr [r12 + 1512], eax
    test eax, 32767
    je .L50
.L48:
    cmp dword ptr [rsp + 80], 1
    je .L51
    pause
    inc ebx
    cmp ebx, 64
    jne .L36
    jmp .L52
.L42:
    mov r15d, dword ptr [r13 + 64]
    mov rax, qword ptr [r12 + 1120]
    mov r14, qword ptr [r12 + 1128]
    mov rbp, r14
    shl rbp, 5
    xor ecx, ecx
    mov rdx, qword ptr [rsp + 32]
.L53:
    cmp rbp, rcx
    je .L54
    cmp dword ptr [rax + rcx], r15d
    lea rcx, [rcx + 32]
    jne .L53
    jmp .L55
.L54:
    lea rcx, [r12 + 1112]
    cmp r14, qword ptr [rcx]
    jne .L56
    lea rdi, [r12 + 1112]
    call <alloc::raw_vec::RawVec<T,A>::grow_one>
    mov rdx, qword ptr [rsp + 32]
    mov r11d, dword ptr [rsp + 20]
    mov r10d, dword ptr [rsp + 24]
    mov r9d, dword ptr [rsp + 240]
    mov rax, qword ptr [r12 + 1120]
.L56:
    mov dword ptr [rax + rbp], r15d
    mov qword ptr [rax + rbp + 8], 2
    mov qword ptr [rax + rbp + 16], offset .L57
    mov qword ptr [rax + rbp + 24], 16
    inc r14
    mov qword ptr [r12 + 1128], r14
    mov byte ptr [r12 + 1180], 1
    jmp .L55
.L43:
    add rcx, rdi
    mov dword ptr [rsp + 136], r15d
    shl r11d, 16
    shl edx, 8
    movzx edx, dx
    or edx, r11d
    movzx edi, r8b
    or edi, edx
    mov dword ptr [rsp + 140], edi
    mov edx, dword ptr [rsp + 44]
    mov dword ptr [rsp + 144], edx
    shl eax, 8
    movzx edx, sil
    or edx, eax
    mov word ptr [rsp + 148], dx
    add rcx, 16
    mov qword ptr [rsp + 56], rcx
    mov qword ptr [rsp + 64], r10
    mov edx, dword ptr [r13 + 64]
    lea rdi, [rsp + 80]
    lea rsi, [r12 + 480]
    lea rcx, [rsp + 136]
    lea r8, [rsp + 56]
    call <<oxmpi_wire::engine::direct::Direct<T,C> as oxmpi_wire::transport::Sink<T>>::frame>
.L44:
    mov r9d, dword ptr [rsp + 240]
    mov r10d, dword ptr [rsp + 24]
    mov r11d, dword ptr [rsp + 20]
    mov rdx, qword ptr [rsp + 32]
.L55:
    mov eax, dword ptr [r13 + 16]
    inc eax
    mov dword ptr [r13 + 16], eax
    mov ecx, eax
    sub ecx, dword ptr [r13 + 20]
    cmp ecx, dword ptr [r13 + 24]
    mov r8, qword ptr [rsp + 168]
    mov r15, qword ptr [rsp + 160]
    mov rbp, qword ptr [rsp + 248]
    mov ecx, dword ptr [rsp + 28]
    jb .L41
    mov ecx, dword ptr [r13 + 28]
    cmp qword ptr [r13 + 8], rcx
    jbe .L58
    mov rdx, qword ptr [r13]
    mov dword ptr [r13 + 20], eax
    mov eax, eax
    mov qword ptr [rdx + 8*rcx], rax
    mov esi, dword ptr [r13 + 64]
    mov eax, dword ptr [r12 + 1172]
    cmp eax, -1
    je .L59
    cmp eax, esi
    mov ecx, dword ptr [rsp + 28]
    mov rdx, qword ptr [rsp + 32]
    je .L41
    lea rdi, [r12 + 480]
    mov r14, r8
    call <oxmpi_shm::transport::tx::ShmTx<B>::remember_also>
    mov rdx, qword ptr [rsp + 32]
    mov ecx, dword ptr [rsp + 28]
    mov r8, r14
    mov r11d, dword ptr [rsp + 20]
    mov r10d, dword ptr [rsp + 24]
    mov r9d, dword ptr [rsp + 240]
    jmp .L41
.L59:
    mov dword ptr [r12 + 1172], esi
    mov ecx, dword ptr [rsp + 28]
    mov rdx, qword ptr [rsp + 32]
.L41:
    xor r13d, r13d
    cmp ecx, edx
    sete r13b
    mov rdx, qword ptr [rsp + 48]
    cmp byte ptr [r12 + 1180], 0
    je .L47
.L46:
    lea rdi, [r12 + 1336]
    lea rsi, [r12 + 480]
    lea rdx, [rsp + 80]
    mov r14, r8
    call <oxmpi_shm::transport::rx::ShmRx<B>::chores>
    mov rdx, qword ptr [rsp + 48]
    mov r8, r14
    mov r11d, dword ptr [rsp + 20]
    mov r10d, dword ptr [rsp + 24]
    mov r9d, dword ptr [rsp + 240]
    add r13d, eax
    test r13d, r13d
    jne .L48
    jmp .L49
.L45:
    lea rdi, [r12 + 1336]
    mov r14, r8
    call <oxmpi_shm::transport::rx::ShmRx<B>::admit>
    mov rdx, qword ptr [rsp + 48]
    mov r8, r14
    mov r11d, dword ptr [rsp + 20]
    mov r10d, dword ptr [rsp + 24]
    mov r9d, dword ptr [rsp + 240]
    cmp byte ptr [r12 + 1180], 0
    je .L47
    jmp .L46
.L50:
    lea rdi, [r12 + 1336]
    lea rsi, [r12 + 480]
    lea rdx, [rsp + 80]
    mov r14, r8
    call <oxmpi_shm::transport::rx::ShmRx<B>::look>
    mov rdx, qword ptr [rsp + 48]
    mov r8, r14
    mov r11d, dword ptr [rsp + 20]
    mov r10d, dword ptr [rsp + 24]
    mov r9d, dword ptr [rsp + 240]
    jmp .L48
.L51:
    mov ebx, dword ptr [rsp + 84]
    mov rdi, qword ptr [rsp + 152]
    mov ebp, r10d
    call <<oxmpi_shm::transport::tx::ShmTx<B> as oxmpi_wire::transport::Tx>::flush>
    mov edx, dword ptr [rsp + 240]
    mov rax, qword ptr [rsp + 128]
    mov qword ptr [rax], rbx
    mov rbx, rax
    mov dword ptr [rax + 8], ebp
    mov ecx, 12
    xor eax, eax
    jmp .L34
.L52:
    mov rsi, qword ptr [r12 + 384]
.L38:
    cmp rsi, r15
    jbe .L37
    mov rax, qword ptr [r12 + 376]
    mov ecx, dword ptr [r12 + 472]
    or ecx, dword ptr [rax + rdx + 100]
    mov rbx, qword ptr [rsp + 128]
    mov esi, dword ptr [rsp + 76]
    jne .L33
    mov al, 2
    jmp .L35
.L58:
    mov edi, offset .L60
    mov esi, 50
    mov edx, offset .L61
    call <core::panicking::panic>
.L37:
    mov edx, offset .L62
    mov rdi, r15
    call <core::panicking::panic_bounds_check>
.L39:
    mov edx, offset .L63
    mov rdi, r15
    call <core::panicking::panic_bounds_check>

# <oxmpi_wire::engine::direct::Direct<T,C> as oxmpi_wire::transport::Sink<T>>::frame
    push r15
    push r14
    push r12
    push rbx
    sub rsp, 56
    mov r14, r8
    mov rbx, rdi
    cmp edx, dword ptr [rdi + 32]
    sete al
    cmp byte ptr [rdi + 36], 0
    je .L64
    cmp byte ptr [rcx + 13], 1
    sete dil
    test al, al
    je .L65
.L66:
    cmp byte ptr [rcx + 12], 0
    sete al
    test dil, dil
    je .L67
.L68:
    test al, al
    je .L69
.L70:
    mov eax, dword ptr [rcx]
    mov edi, dword ptr [rcx + 4]
    shl rax, 32
    or rax, rdi
    cmp rax, qword ptr [rbx + 24]
    jne .L69
    mov r15d, dword ptr [rcx + 8]
    mov r12, qword ptr [rbx + 16]
    cmp qword ptr [r12 + 8], r15
    jb .L69
    cmp qword ptr [r14 + 8], r15
    jne .L69
    test r15d, r15d
    je .L71
    cmp qword ptr [r12 + 16], r15
    jb .L72
    lea rax, [r15 - 8]
    mov rcx, rax
    rol rcx, 61
    cmp rcx, 5
    ja .L72
    jmp qword ptr [8*rcx + .L73]
.L74:
    mov qword ptr [rsp], 0
    cmp r15d, 7
    jbe .L75
    mov rcx, qword ptr [r14]
    test cl, 7
    je .L76
    mov rsi, rsp
    mov edx, 8
    mov rdi, r14
    call <oxmpi_shm::transport::foreign::Foreign::take_slow>
    mov rcx, qword ptr [r14]
    mov rax, qword ptr [r14 + 8]
    mov rdx, qword ptr [rsp]
    add rax, -8
    jmp .L77
.L78:
    xorps xmm0, xmm0
    movaps xmmword ptr [rsp + 16], xmm0
    movaps xmmword ptr [rsp], xmm0
    mov qword ptr [rsp + 32], 0
    cmp r15d, 39
    jbe .L75
    mov rax, qword ptr [r14]
    test al, 7
    je .L79
    mov rsi, rsp
    mov edx, 40
    mov rdi, r14
    call <oxmpi_shm::transport::foreign::Foreign::take_slow>
    mov rax, qword ptr [r14]
    mov rcx, qword ptr [r14 + 8]
    jmp .L80
.L81:
    xorps xmm0, xmm0
    movaps xmmword ptr [rsp], xmm0
    mov qword ptr [rsp + 16], 0
    cmp r15d, 23
    jbe .L75
    mov rax, qword ptr [r14]
    test al, 7
    je .L82
    mov rsi, rsp
    mov edx, 24
    mov rdi, r14
    call <oxmpi_shm::transport::foreign::Foreign::take_slow>
    mov rax, qword ptr [r14]
    mov rcx, qword ptr [r14 + 8]
    jmp .L83
.L84:
    xorps xmm0, xmm0
    movaps xmmword ptr [rsp + 16], xmm0
    movaps xmmword ptr [rsp], xmm0
    cmp r15d, 31
    jbe .L75
    mov rax, qword ptr [r14]
    test al, 7
    je .L85
    mov rsi, rsp
    mov edx, 32
    mov rdi, r14
    call <oxmpi_shm::transport::foreign::Foreign::take_slow>
    mov rax, qword ptr [r14]
    mov rcx, qword ptr [r14 + 8]
    jmp .L86
.L87:
    xorps xmm0, xmm0
    movaps xmmword ptr [rsp], xmm0
    cmp r15d, 15
    jbe .L75
    mov rax, qword ptr [r14]
    test al, 7
    je .L88
    mov rsi, rsp
    mov edx, 16
    mov rdi, r14
    call <oxmpi_shm::transport::foreign::Foreign::take_slow>
    mov rax, qword ptr [r14]
    mov rcx, qword ptr [r14 + 8]
    jmp .L89
.L90:
    xorps xmm0, xmm0
    movaps xmmword ptr [rsp + 32], xmm0
    movaps xmmword ptr [rsp + 16], xmm0
    movaps xmmword ptr [rsp], xmm0
    cmp r15d, 47
    jbe .L75
    mov rax, qword ptr [r14]
    test al, 7
    je .L91
    mov rsi, rsp
    mov edx, 48
    mov rdi, r14
    call <oxmpi_shm::transport::foreign::Foreign::take_slow>
    mov rax, qword ptr [r14]
    mov rcx, qword ptr [r14 + 8]
    jmp .L92
.L79:
    mov rcx, qword ptr [rax]
    mov qword ptr [rsp], rcx
    mov rcx, qword ptr [rax + 8]
    mov qword ptr [rsp + 8], rcx
    mov rcx, qword ptr [rax + 16]
    mov qword ptr [rsp + 16], rcx
    mov rcx, qword ptr [rax + 24]
    mov qword ptr [rsp + 24], rcx
    mov rcx, qword ptr [rax + 32]
    mov qword ptr [rsp + 32], rcx
    mov rcx, r15
.L80:
    add rax, 40
    mov qword ptr [r14], rax
    add rcx, -40
    mov qword ptr [r14 + 8], rcx
    mov rax, qword ptr [r12]
    movaps xmm0, xmmword ptr [rsp]
    movaps xmm1, xmmword ptr [rsp + 16]
    mov rcx, qword ptr [rsp + 32]
    mov qword ptr [rax + 32], rcx
    jmp .L93
.L82:
    mov rcx, qword ptr [rax]
    mov qword ptr [rsp], rcx
    mov rcx, qword ptr [rax + 8]
    mov qword ptr [rsp + 8], rcx
    mov rcx, qword ptr [rax + 16]
    mov qword ptr [rsp + 16], rcx
    mov rcx, r15
.L83:
    add rax, 24
    mov qword ptr [r14], rax
    add rcx, -24
    mov qword ptr [r14 + 8], rcx
    mov rax, qword ptr [r12]
    movaps xmm0, xmmword ptr [rsp]
    mov rcx, qword ptr [rsp + 16]
    mov qword ptr [rax + 16], rcx
    jmp .L94
.L85:
    mov rcx, qword ptr [rax]
    mov qword ptr [rsp], rcx
    mov rcx, qword ptr [rax + 8]
    mov qword ptr [rsp + 8], rcx
    mov rcx, qword ptr [rax + 16]
    mov qword ptr [rsp + 16], rcx
    mov rcx, qword ptr [rax + 24]
    mov qword ptr [rsp + 24], rcx
    mov rcx, r15
.L86:
    add rax, 32
    mov qword ptr [r14], rax
    add rcx, -32
    mov qword ptr [r14 + 8], rcx
    mov rax, qword ptr [r12]
    movaps xmm0, xmmword ptr [rsp]
    movaps xmm1, xmmword ptr [rsp + 16]
    jmp .L93
.L76:
    mov rdx, qword ptr [rcx]
.L77:
    add rcx, 8
    mov qword ptr [r14], rcx
    mov qword ptr [r14 + 8], rax
    mov rax, qword ptr [r12]
    mov qword ptr [rax], rdx
    jmp .L71
.L88:
    mov rcx, qword ptr [rax]
    mov qword ptr [rsp], rcx
    mov rcx, qword ptr [rax + 8]
    mov qword ptr [rsp + 8], rcx
    mov rcx, r15
.L89:
    add rax, 16
    mov qword ptr [r14], rax
    add rcx, -16
    mov qword ptr [r14 + 8], rcx
    mov rax, qword ptr [r12]
    movaps xmm0, xmmword ptr [rsp]
    jmp .L94
.L91:
    mov rcx, qword ptr [rax]
    mov qword ptr [rsp], rcx
    mov rcx, qword ptr [rax + 8]
    mov qword ptr [rsp + 8], rcx
    mov rcx, qword ptr [rax + 16]
    mov qword ptr [rsp + 16], rcx
    mov rcx, qword ptr [rax + 24]
    mov qword ptr [rsp + 24], rcx
    mov rcx, qword ptr [rax + 32]
    mov qword ptr [rsp + 32], rcx
    mov rcx, qword ptr [rax + 40]
    mov qword ptr [rsp + 40], rcx
    mov rcx, r15
.L92:
    add rax, 48
    mov qword ptr [r14], rax
    add rcx, -48
    mov qword ptr [r14 + 8], rcx
    mov rax, qword ptr [r12]
    movaps xmm0, xmmword ptr [rsp]
    movaps xmm1, xmmword ptr [rsp + 16]
    movaps xmm2, xmmword ptr [rsp + 32]
    movups xmmword ptr [rax + 32], xmm2
.L93:
    movups xmmword ptr [rax + 16], xmm1
.L94:
    movups xmmword ptr [rax], xmm0
.L71:
    mov dword ptr [rbx], 1
    mov dword ptr [rbx + 4], r15d
    mov byte ptr [rbx + 36], 0
    add rsp, 56
    pop rbx
    pop r12
    pop r14
    pop r15
    ret
.L64:
    xor eax, eax
    cmp byte ptr [rcx + 13], 1
    sete dil
    test al, al
    jne .L66
.L65:
    xor edi, edi
    cmp byte ptr [rcx + 12], 0
    sete al
    test dil, dil
    jne .L68
.L67:
    xor eax, eax
    test al, al
    jne .L70
.L69:
    mov byte ptr [rbx + 36], 0
    mov rdi, qword ptr [rbx + 8]
    mov r8, r14
    add rsp, 56
    pop rbx
    pop r12
    pop r14
    pop r15
    jmp <oxmpi_wire::engine::direct::usual_road>
.L72:
    mov rdi, r12
    xor esi, esi
    mov rdx, r15
    mov rcx, r14
    call <oxmpi_os::bytes::RawBytes::take_slow>
    jmp .L71
.L75:
    mov edi, offset .L95
    mov esi, 49
    mov edx, offset .L96
    call <core::panicking::panic_fmt>

# <oxmpi_shm::transport::tx::ShmTx<B> as oxmpi_wire::transport::Tx>::flush
    push rbx
    mov esi, dword ptr [rdi + 692]
    mov eax, 4294967295
    cmp rsi, rax
    je .L97
    mov rax, qword ptr [rdi + 288]
    cmp rax, rsi
    jbe .L98
    mov rax, qword ptr [rdi + 280]
    imul rcx, rsi, 104
    mov rdx, qword ptr [rax + rcx + 64]
    mov rax, qword ptr [rax + rcx + 80]
    mov rax, qword ptr [rdx + 8*rax]
    test al, 1
    jne .L99
.L100:
    mov dword ptr [rdi + 692], -1
.L101:
    mov rcx, qword ptr [rdi + 312]
    test rcx, rcx
    je .L97
    lea rax, [rcx - 1]
    mov qword ptr [rdi + 312], rax
    mov rax, qword ptr [rdi + 288]
    mov rdx, qword ptr [rdi + 304]
    mov esi, dword ptr [rdx + 4*rcx - 4]
    cmp rax, rsi
    jbe .L98
    mov rax, qword ptr [rdi + 280]
    imul rcx, rsi, 104
    mov rdx, qword ptr [rax + rcx + 64]
    mov rax, qword ptr [rax + rcx + 80]
    mov rax, qword ptr [rdx + 8*rax]
    test al, 1
    je .L101
    mov rbx, rdi
    call <oxmpi_shm::transport::tx::ShmTx<B>::wake>
    mov rdi, rbx
    jmp .L101
.L97:
    pop rbx
    ret
.L99:
    mov rbx, rdi
    call <oxmpi_shm::transport::tx::ShmTx<B>::wake>
    mov rdi, rbx
    jmp .L100
.L98:
    mov edx, offset .L102
    mov rdi, rsi
    mov rsi, rax
    call <core::panicking::panic_bounds_check>
