# recv: 340 instructions, release, one codegen unit, target-cpu x86-64
# made by rustc 1.95.0 (59807616e 2026-04-14), LLVM 22.1.2

    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 216
    mov ebp, r8d
    mov r14, rcx
    mov r13, rdx
    mov rbx, rdi
    mov qword ptr [rsp + 16], rdx
    mov qword ptr [rsp + 24], 8
    mov qword ptr [rsp + 32], 8
    mov qword ptr [rsp + 40], 0
    mov eax, dword ptr [rsi + 24]
    cmp rcx, rax
    jae .L0
    mov dword ptr [rsp + 12], r14d
    jmp .L1
.L0:
    lea rdi, [rsi + 8]
    mov r15, rsi
    mov rsi, r14
    call <oxmpi::raw::group::Group::link_of>
    mov rsi, r15
    mov dword ptr [rsp + 12], edx
    test al, 1
    je .L2
.L1:
    mov r12, qword ptr [rsi]
    cmp qword ptr [r12 + 16], 0
    jne .L3
    mov eax, dword ptr [rsi + 32]
    mov qword ptr [r12 + 16], -1
    mov rcx, qword ptr [r12 + 1928]
    mov ecx, dword ptr [rcx]
    test ecx, ecx
    je .L4
    mov qword ptr [rsp + 176], r13
    mov qword ptr [rsp + 184], rsi
    mov qword ptr [rsp + 192], r14
    mov qword ptr [rsp + 56], rbx
    mov r14d, dword ptr [rsp + 12]
    shl rax, 32
    mov dword ptr [rsp + 52], ebp
    mov r13d, ebp
    or r13, rax
    mov r15d, 64
    imul rbp, r14, 112
    mov ebx, offset .L5
.L6:
    mov rsi, qword ptr [r12 + 408]
    cmp rsi, r14
    jbe .L7
    mov rax, qword ptr [r12 + 400]
    mov ecx, dword ptr [r12 + 496]
    or ecx, dword ptr [rax + rbp + 100]
    jne .L8
    cmp byte ptr [r12 + 1184], 1
    je .L9
    mov rsi, qword ptr [r12 + 1384]
    cmp rsi, r14
    jbe .L10
    mov rax, qword ptr [r12 + 1376]
    mov eax, dword ptr [rax + 4*r14]
    cmp qword ptr [r12 + 1360], rax
    jbe .L9
    mov r8, qword ptr [r12 + 1352]
    lea rcx, [rax + 2*rax]
    shl rcx, 5
    mov eax, dword ptr [r8 + rcx + 32]
    and eax, dword ptr [r8 + rcx + 16]
    mov rdx, qword ptr [r8 + rcx]
    mov rsi, rax
    shl rsi, 7
    mov r10, qword ptr [rdx + rsi]
    mov esi, dword ptr [r8 + rcx + 16]
    inc esi
    mov rdi, r10
    shr rdi, 32
    cmp esi, edi
    jne .L11
    add r8, rcx
    shl rax, 4
    mov rsi, qword ptr [r8]
    mov rdi, qword ptr [rsi + 8*rax + 8]
    lea ecx, [r10 - 16777216]
    cmp ecx, 112
    ja .L9
    mov edx, ecx
    cmp qword ptr [rsp + 24], rdx
    jb .L9
    cmp rdi, r13
    jne .L9
    jmp .L12
.L11:
    mov eax, dword ptr [r12 + 1520]
    inc eax
    test eax, 32767
    je .L9
    mov dword ptr [r12 + 1520], eax
    jmp .L13
.L9:
    mov dword ptr [rsp + 144], 1
    mov eax, dword ptr [rsp + 12]
    mov dword ptr [rsp + 148], eax
    mov qword ptr [rsp + 152], r13
    mov qword ptr [rsp + 160], -1
    movups xmm0, xmmword ptr [rsp + 16]
    movups xmm1, xmmword ptr [rsp + 32]
    movaps xmmword ptr [rsp + 80], xmm1
    movaps xmmword ptr [rsp + 64], xmm0
    lea rdi, [rsp + 200]
    lea rsi, [r12 + 1344]
    lea rdx, [r12 + 512]
    lea rcx, [rsp + 144]
    lea r8, [rsp + 64]
    lea r9, [r12 + 24]
    call <oxmpi_shm::transport::rx::ShmRx<B>::usual>
    cmp byte ptr [rsp + 200], 0
    jne .L14
.L13:
    mov rsi, qword ptr [r12 + 408]
.L8:
    cmp rsi, r14
    jbe .L7
    mov rax, qword ptr [r12 + 400]
    mov ecx, dword ptr [r12 + 496]
    or ecx, dword ptr [rax + rbp + 100]
    jne .L15
    pause
    dec r15d
    jne .L6
.L15:
    mov rax, qword ptr [r12 + 16]
    inc rax
    mov rbx, qword ptr [rsp + 56]
    mov r14, qword ptr [rsp + 192]
    mov rsi, qword ptr [rsp + 184]
    mov ebp, dword ptr [rsp + 52]
    mov r13, qword ptr [rsp + 176]
    jmp .L16
.L4:
    xor eax, eax
.L16:
    mov qword ptr [r12 + 16], rax
.L2:
    mov qword ptr [rsp + 144], r13
    mov qword ptr [rsp + 152], 8
    mov qword ptr [rsp + 160], 8
    mov qword ptr [rsp + 168], 0
    mov dword ptr [rsp], ebp
    lea rdi, [rsp + 64]
    lea rdx, [rsp + 144]
    mov ecx, 1
    mov r8, r14
    mov r9d, 1
    call <oxmpi::raw::communicator::Communicator<A>::recv>
    cmp qword ptr [rsp + 64], 24
    jne .L17
.L18:
    mov qword ptr [rbx], 24
    jmp .L19
.L17:
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
.L19:
    mov rax, rbx
    add rsp, 216
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
.L12:
    mov r9, r8
    lea rax, [rsi + 8*rax]
    mov rbx, r8
    mov r14d, dword ptr [r9 + 80]
    lea rsi, [rax + 16]
    mov qword ptr [rsp + 64], rsi
    mov qword ptr [rsp + 72], rdx
    cmp qword ptr [rsp + 32], rdx
    jb .L20
    cmp r10d, 16777216
    je .L21
    cmp r10d, 16777224
    jne .L22
    mov rcx, qword ptr [rax + 16]
    add rax, 24
    mov qword ptr [rsp + 64], rax
    add rdx, -8
    mov qword ptr [rsp + 72], rdx
    mov rax, qword ptr [rsp + 16]
    mov qword ptr [rax], rcx
    jmp .L21
.L22:
    cmp ecx, 9
    jae .L23
    mov rsi, qword ptr [rsp + 16]
    lea rdi, [rsp + 64]
    mov r15, rdx
    call <oxmpi_shm::transport::foreign::Foreign::take_slow>
    mov rax, r15
.L24:
    add qword ptr [rsp + 64], rax
.L21:
    mov eax, dword ptr [rbx + 16]
    inc eax
    mov dword ptr [rbx + 16], eax
    cmp eax, dword ptr [rbx + 20]
    jne .L14
    lea rdi, [rbx + 16]
    mov rsi, rbx
    call <oxmpi_shm::ring::credit::Freed::tell>
    mov rsi, qword ptr [r12 + 800]
    cmp rsi, r14
    jbe .L25
    mov rax, qword ptr [r12 + 792]
    mov rcx, r14
    shl rcx, 7
    lea rcx, [rcx + 8*r14]
    mov rdx, qword ptr [rax + rcx + 80]
    mov rax, qword ptr [rax + rcx + 96]
    mov rax, qword ptr [rdx + 8*rax]
    test al, 1
    jne .L26
.L14:
    inc qword ptr [r12 + 16]
    mov rbx, qword ptr [rsp + 56]
    jmp .L18
.L23:
    lea rsi, [rdx - 16]
    rol rsi, 61
    cmp rsi, 4
    ja .L27
    jmp qword ptr [8*rsi + .L28]
.L29:
    cmp ecx, 16
    jb .L30
    mov rcx, qword ptr [rax + 16]
    mov rdx, qword ptr [rax + 24]
    add rax, 32
    mov qword ptr [rsp + 64], rax
    mov rax, qword ptr [rsp + 16]
    mov qword ptr [rax], rcx
    mov qword ptr [rax + 8], rdx
    jmp .L21
.L3:
    mov edi, offset .L31
    call <core::cell::panic_already_borrowed>
.L32:
    cmp ecx, 48
    jb .L30
    mov rcx, qword ptr [rax + 16]
    mov r10, qword ptr [rax + 24]
    mov rsi, qword ptr [rax + 32]
    mov rdi, qword ptr [rax + 40]
    mov r8, qword ptr [rax + 48]
    mov r9, qword ptr [rax + 56]
    add rax, 64
    mov qword ptr [rsp + 64], rax
    add rdx, -48
    mov qword ptr [rsp + 72], rdx
    mov rax, qword ptr [rsp + 16]
    mov qword ptr [rax], rcx
    mov qword ptr [rax + 8], r10
    mov qword ptr [rax + 16], rsi
    mov qword ptr [rax + 24], rdi
    mov qword ptr [rax + 32], r8
    mov qword ptr [rax + 40], r9
    jmp .L21
.L33:
    cmp ecx, 32
    jb .L30
    mov rcx, qword ptr [rax + 16]
    mov rdx, qword ptr [rax + 24]
    mov rsi, qword ptr [rax + 32]
    mov rdi, qword ptr [rax + 40]
    add rax, 48
    mov qword ptr [rsp + 64], rax
    mov rax, qword ptr [rsp + 16]
    mov qword ptr [rax], rcx
    mov qword ptr [rax + 8], rdx
    mov qword ptr [rax + 16], rsi
    mov qword ptr [rax + 24], rdi
    jmp .L21
.L34:
    cmp ecx, 40
    jb .L30
    mov rcx, qword ptr [rax + 16]
    mov r9, qword ptr [rax + 24]
    mov rsi, qword ptr [rax + 32]
    mov rdi, qword ptr [rax + 40]
    mov r8, qword ptr [rax + 48]
    add rax, 56
    mov qword ptr [rsp + 64], rax
    add rdx, -40
    mov qword ptr [rsp + 72], rdx
    mov rax, qword ptr [rsp + 16]
    mov qword ptr [rax], rcx
    mov qword ptr [rax + 8], r9
    mov qword ptr [rax + 16], rsi
    mov qword ptr [rax + 24], rdi
    mov qword ptr [rax + 32], r8
    jmp .L21
.L35:
    cmp ecx, 24
    jb .L30
    mov rcx, qword ptr [rax + 16]
    mov rdx, qword ptr [rax + 24]
    mov rsi, qword ptr [rax + 32]
    add rax, 40
    mov qword ptr [rsp + 64], rax
    mov rax, qword ptr [rsp + 16]
    mov qword ptr [rax], rcx
    mov qword ptr [rax + 8], rdx
    mov qword ptr [rax + 16], rsi
    jmp .L21
.L27:
    mov rsi, qword ptr [rsp + 16]
    lea rdi, [rsp + 64]
    mov r15, rdx
    call <oxmpi_shm::transport::foreign::Foreign::take_slow>
    mov rax, r15
    jmp .L24
.L20:
    lea rdi, [rsp + 16]
    lea rcx, [rsp + 64]
    xor esi, esi
    call <oxmpi_os::bytes::RawBytes::take_runs>
    jmp .L21
.L26:
    lea rdi, [r12 + 512]
    mov esi, r14d
    call <oxmpi_shm::transport::tx::ShmTx<B>::wake>
    jmp .L14
.L10:
    mov ebx, offset .L36
.L7:
    mov rdi, r14
    mov rdx, rbx
    call <core::panicking::panic_bounds_check>
    jmp .L37
.L30:
    mov edi, offset .L38
    mov esi, 49
    mov edx, offset .L39
    call <core::panicking::panic_fmt>
.L37:
    ud2
.L25:
    mov ebx, offset .L40
    jmp .L7
.L41:
    inc qword ptr [r12 + 16]
    mov rdi, rax
    call _Unwind_Resume@PLT
.L42:
    inc qword ptr [r12 + 16]
    mov rdi, rax
    call _Unwind_Resume@PLT
.L43:
    inc qword ptr [r12 + 16]
    mov rdi, rax
    call _Unwind_Resume@PLT
