# send: 150 instructions, release, one codegen unit, target-cpu x86-64
# made by rustc 1.95.0 (59807616e 2026-04-14), LLVM 22.1.2

    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 72
    mov ebp, r8d
    mov r14, rcx
    mov r15, rdx
    mov r12, rsi
    mov rbx, rdi
    test r8d, r8d
    js .L0
    mov r13d, dword ptr [r12 + 32]
    mov eax, dword ptr [r12 + 24]
    cmp r14, rax
    jae .L1
    mov qword ptr [rsp + 24], r13
    mov edx, r14d
    mov r13, qword ptr [r12]
    cmp qword ptr [r13 + 16], 0
    jne .L2
.L3:
    mov qword ptr [r13 + 16], -1
    mov rax, qword ptr [r13 + 1928]
    mov eax, dword ptr [rax]
    test eax, eax
    je .L4
    mov edi, edx
    mov rsi, qword ptr [r13 + 408]
    cmp rsi, rdi
    jbe .L5
    mov rax, qword ptr [r13 + 400]
    imul rcx, rdi, 112
    cmp dword ptr [rax + rcx + 88], 0
    jne .L4
    add rax, rcx
    cmp dword ptr [rax + 92], 8
    setb cl
    mov eax, dword ptr [r13 + 504]
    cmp eax, 256
    setae sil
    or sil, cl
    je .L6
.L4:
    xor eax, eax
.L7:
    mov qword ptr [r13 + 16], rax
    jmp .L0
.L1:
    lea rdi, [r12 + 8]
    mov rsi, r14
    call <oxmpi::raw::group::Group::link_of>
    test al, 1
    je .L0
    mov qword ptr [rsp + 24], r13
    mov r13, qword ptr [r12]
    cmp qword ptr [r13 + 16], 0
    je .L3
.L2:
    mov edi, offset .L8
    call <core::cell::panic_already_borrowed>
.L0:
    mov qword ptr [rsp + 40], r15
    mov qword ptr [rsp + 48], 8
    mov qword ptr [rsp + 56], 8
    mov qword ptr [rsp + 64], 0
    lea rdx, [rsp + 40]
    mov rdi, rbx
    mov rsi, r12
    mov rcx, r14
    mov r8d, ebp
    xor r9d, r9d
    call <oxmpi::raw::communicator::Communicator<A>::send>
.L9:
    mov rax, rbx
    add rsp, 72
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
.L6:
    mov rcx, rdi
    lea rdi, [r13 + 512]
    inc eax
    mov dword ptr [r13 + 504], eax
    mov rax, rcx
    shl rax, 7
    lea rax, [rax + 8*rcx]
    mov qword ptr [rsp + 8], rcx
    mov qword ptr [rsp + 32], rax
.L10:
    mov rsi, qword ptr [r13 + 800]
    cmp rsi, rcx
    jbe .L11
    mov rax, qword ptr [r13 + 792]
    mov rsi, qword ptr [rsp + 32]
    mov ecx, dword ptr [rax + rsi + 56]
    cmp dword ptr [rax + rsi + 60], ecx
    jne .L12
    mov dword ptr [rsp + 20], edx
    mov esi, edx
    xor edx, edx
    call <oxmpi_shm::transport::tx::ShmTx<B>::make_room>
    test al, al
    mov edx, dword ptr [rsp + 20]
    lea rdi, [r13 + 512]
    mov rcx, qword ptr [rsp + 8]
    je .L10
    mov rax, qword ptr [r13 + 16]
    inc rax
    jmp .L7
.L12:
    add rax, rsi
    and ecx, dword ptr [rax + 72]
    mov rsi, qword ptr [rax + 40]
    shl rcx, 7
    mov r8, qword ptr [r15]
    mov qword ptr [rsi + rcx + 16], r8
    mov r8, qword ptr [rsp + 24]
    shl r8, 32
    mov esi, ebp
    or rsi, r8
    mov r8, qword ptr [rax + 40]
    mov qword ptr [r8 + rcx + 8], rsi
    mov esi, dword ptr [rax + 56]
    inc esi
    mov dword ptr [rax + 56], esi
    shl rsi, 32
    or rsi, 16777224
    mov r8, qword ptr [rax + 40]
    mov qword ptr [r8 + rcx], rsi
    mov rcx, qword ptr [rax + 80]
    mov rax, qword ptr [rax + 96]
    mov rax, qword ptr [rcx + 8*rax]
    test al, 1
    jne .L13
.L14:
    inc qword ptr [r13 + 16]
    mov qword ptr [rbx], 24
    jmp .L9
.L13:
    mov esi, edx
    call <oxmpi_shm::transport::tx::ShmTx<B>::wake>
    jmp .L14
.L5:
    mov qword ptr [rsp + 8], rdi
    mov edx, offset .L15
.L16:
    mov rdi, qword ptr [rsp + 8]
    call <core::panicking::panic_bounds_check>
    ud2
.L11:
    mov edx, offset .L17
    jmp .L16
.L18:
    inc qword ptr [r13 + 16]
    mov rdi, rax
    call _Unwind_Resume@PLT
.L19:
    inc qword ptr [r13 + 16]
    mov rdi, rax
    call _Unwind_Resume@PLT
