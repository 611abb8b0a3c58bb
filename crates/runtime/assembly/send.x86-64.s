# send: 301 instructions, release, one codegen unit, target-cpu x86-64
# made by rustc 1.95.0 (59807616e 2026-04-14), LLVM 22.1.2

    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 168
    mov r12, rcx
    mov r13, rsi
    mov rbx, rdi
    mov esi, dword ptr [rsi]
    mov rax, rcx
    shr rax, 32
    je .L0
    mov ecx, dword ptr [r13 + 16]
    test esi, esi
    je .L1
    mov rdx, qword ptr [r13 + 8]
    mov rsi, qword ptr [rdx + 32]
    jmp .L2
.L0:
    mov ebp, r8d
    mov ecx, dword ptr [r13 + 32]
    mov qword ptr [rsp + 24], rcx
    test esi, esi
    je .L3
    mov rcx, qword ptr [r13 + 8]
    mov rsi, qword ptr [rcx + 32]
    cmp rsi, r12
    jbe .L4
    mov rax, qword ptr [rcx + 24]
    mov eax, dword ptr [rax + 4*r12]
    mov dword ptr [rsp + 20], eax
    jmp .L5
.L1:
    mov esi, dword ptr [r13 + 4]
    jmp .L2
.L3:
    mov esi, dword ptr [r13 + 4]
    mov dword ptr [rsp + 20], r12d
    cmp esi, r12d
    jbe .L4
.L5:
    test ebp, ebp
    js .L6
    mov r14, qword ptr [r13 + 24]
    cmp qword ptr [r14 + 16], 0
    jne .L7
    mov qword ptr [r14 + 16], -1
    cmp byte ptr [r14 + 1900], 0
    jne .L8
    mov rax, qword ptr [r14 + 1888]
    mov rax, qword ptr [rax + 16]
    mov eax, dword ptr [rax]
    test eax, eax
    je .L9
    mov qword ptr [rsp + 56], rdx
    mov qword ptr [rsp + 64], 8
    mov qword ptr [rsp + 72], 8
    mov qword ptr [rsp + 80], 0
    mov r15d, dword ptr [rsp + 20]
    mov rsi, qword ptr [r14 + 408]
    cmp rsi, r15
    jbe .L10
    lea rdi, [r14 + 24]
    lea rsi, [r14 + 504]
    mov rax, qword ptr [r14 + 400]
    imul rcx, r15, 112
    cmp dword ptr [rax + rcx + 92], 8
    jae .L11
    lea r9, [rsp + 56]
    mov edx, dword ptr [rsp + 20]
    mov rcx, qword ptr [rsp + 24]
    mov r8d, ebp
    call <oxmpi_wire::engine::send::<impl oxmpi_wire::engine::Engine<T>>::try_frame>
    test al, al
    jne .L12
.L13:
    lea rdi, [r14 + 504]
    call <<oxmpi_shm::transport::tx::ShmTx<B> as oxmpi_wire::transport::Tx>::flush>
    inc qword ptr [r14 + 16]
    jmp .L14
.L11:
    add rax, rcx
    cmp dword ptr [rax + 88], 0
    jne .L12
    mov eax, dword ptr [r14 + 500]
    cmp eax, 255
    jbe .L15
.L12:
    movups xmm0, xmmword ptr [rsp + 56]
    movups xmm1, xmmword ptr [rsp + 72]
    movaps xmmword ptr [rsp + 112], xmm1
    movaps xmmword ptr [rsp + 96], xmm0
    lea rax, [rsp + 96]
    mov qword ptr [rsp], rax
    lea rdi, [rsp + 44]
    lea rsi, [r14 + 24]
    mov edx, dword ptr [rsp + 20]
    mov rcx, qword ptr [rsp + 24]
    mov r8d, ebp
    xor r9d, r9d
    call <oxmpi::raw::lane::Lane::send_later>
    mov edx, dword ptr [rsp + 48]
    mov ecx, dword ptr [rsp + 52]
    movzx eax, byte ptr [rsp + 44]
    inc qword ptr [r14 + 16]
    test al, 1
    je .L14
    mov eax, dword ptr [r13 + 16]
    cmp r12, rax
    je .L16
    lea rdi, [rsp + 96]
    mov rsi, r13
    call <oxmpi::raw::communicator::Communicator<A>::wait>
    cmp dword ptr [rsp + 96], 24
    jne .L17
.L14:
    mov qword ptr [rbx], 24
    jmp .L18
.L4:
    mov ecx, dword ptr [r13 + 16]
.L2:
    mov edx, esi
    mov esi, 5
    mov ebp, r12d
.L19:
    mov qword ptr [rbx], rsi
    mov dword ptr [rbx + 8], ecx
    mov dword ptr [rbx + 12], 0
    mov dword ptr [rbx + 16], ebp
    mov dword ptr [rbx + 20], eax
    mov qword ptr [rbx + 24], rdx
.L18:
    mov rax, rbx
    add rsp, 168
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
.L17:
    mov rax, qword ptr [rsp + 160]
    mov qword ptr [rbx + 64], rax
    movups xmm0, xmmword ptr [rsp + 96]
    movups xmm1, xmmword ptr [rsp + 112]
    movups xmm2, xmmword ptr [rsp + 128]
    movups xmm3, xmmword ptr [rsp + 144]
    movups xmmword ptr [rbx + 48], xmm3
    movups xmmword ptr [rbx + 32], xmm2
    movups xmmword ptr [rbx + 16], xmm1
    movups xmmword ptr [rbx], xmm0
    jmp .L18
.L15:
    inc eax
    mov dword ptr [r14 + 500], eax
    mov rsi, qword ptr [r14 + 792]
    cmp rsi, r15
    jbe .L20
    mov rax, qword ptr [r14 + 784]
    imul rdx, r15, 104
    mov ecx, dword ptr [rax + rdx + 44]
    mov qword ptr [rsp + 32], rdx
    cmp ecx, dword ptr [rax + rdx + 40]
    je .L21
    cmp rsi, r15
    jbe .L22
.L23:
    mov r15, qword ptr [r14 + 784]
    mov rcx, qword ptr [rsp + 32]
    mov eax, dword ptr [r15 + rcx + 56]
    and eax, dword ptr [r15 + rcx + 40]
    mov rcx, qword ptr [r15 + rcx + 24]
    shl rax, 7
    add rax, rcx
    add rax, 16
    mov qword ptr [rsp + 96], rax
    mov qword ptr [rsp + 104], 48
    cmp qword ptr [rsp + 72], 7
    jbe .L24
    mov rcx, qword ptr [rsp + 56]
    mov rcx, qword ptr [rcx]
    mov qword ptr [rsp + 88], rcx
    test al, 7
    je .L25
    lea rdi, [rsp + 96]
    lea rsi, [rsp + 88]
    mov edx, 8
    call <oxmpi_shm::transport::foreign::Foreign::put_slow>
    jmp .L26
.L25:
    mov qword ptr [rax], rcx
.L26:
    add r15, qword ptr [rsp + 32]
    mov rdx, qword ptr [rsp + 24]
    shl rdx, 32
    mov eax, ebp
    mov ecx, dword ptr [r15 + 56]
    and ecx, dword ptr [r15 + 40]
    or rax, rdx
    mov rdx, qword ptr [r15 + 24]
    shl rcx, 7
    mov qword ptr [rdx + rcx + 8], rax
    mov eax, dword ptr [r15 + 40]
    mov ecx, dword ptr [r15 + 56]
    and ecx, eax
    inc eax
    mov dword ptr [r15 + 40], eax
    shl rax, 32
    or rax, 16777224
    mov rdx, qword ptr [r15 + 24]
    shl rcx, 7
    mov qword ptr [rdx + rcx], rax
    mov eax, dword ptr [r14 + 1196]
    cmp eax, -1
    je .L27
    cmp eax, dword ptr [rsp + 20]
    je .L13
    lea rdi, [r14 + 504]
    mov esi, dword ptr [rsp + 20]
    call <oxmpi_shm::transport::tx::ShmTx<B>::remember_also>
    jmp .L13
.L27:
    mov eax, dword ptr [rsp + 20]
    mov dword ptr [r14 + 1196], eax
    jmp .L13
.L6:
    mov ecx, dword ptr [r13 + 16]
    mov esi, 6
    jmp .L19
.L7:
    mov edi, offset .L28
    call <core::cell::panic_already_borrowed>
.L8:
    mov eax, 19
    jmp .L29
.L9:
    mov eax, 21
.L29:
    mov qword ptr [r14 + 16], 0
    mov qword ptr [rbx], rax
    jmp .L18
.L16:
    mov dword ptr [rsp], ebp
    mov rdi, rbx
    mov rsi, r13
    mov r8d, dword ptr [rsp + 20]
    mov r9, qword ptr [rsp + 24]
    call <oxmpi::raw::communicator::Communicator<A>::wait_for_own>
    jmp .L18
.L21:
    lea rdi, [r14 + 504]
    mov esi, dword ptr [rsp + 20]
    xor edx, edx
    call <oxmpi_shm::transport::tx::ShmTx<B>::make_room>
    test al, al
    jne .L12
    mov rsi, qword ptr [r14 + 792]
    cmp rsi, r15
    ja .L23
.L22:
    mov edx, offset .L30
    jmp .L31
.L24:
    lea rdi, [rsp + 56]
    lea rcx, [rsp + 96]
    mov edx, 8
    xor esi, esi
    call <oxmpi_os::bytes::RawBytes::put_slow>
    jmp .L26
.L10:
    mov edx, offset .L32
.L31:
    mov rdi, r15
    call <core::panicking::panic_bounds_check>
    ud2
.L20:
    mov edx, offset .L33
    jmp .L31
.L34:
    inc qword ptr [r14 + 16]
    mov rdi, rax
    call _Unwind_Resume@PLT

# <oxmpi_shm::transport::tx::ShmTx<B> as oxmpi_wire::transport::Tx>::flush
    push rbx
    mov esi, dword ptr [rdi + 692]
    mov eax, 4294967295
    cmp rsi, rax
    je .L35
    mov rax, qword ptr [rdi + 288]
    cmp rax, rsi
    jbe .L36
    mov rax, qword ptr [rdi + 280]
    imul rcx, rsi, 104
    mov rdx, qword ptr [rax + rcx + 64]
    mov rax, qword ptr [rax + rcx + 80]
    mov rax, qword ptr [rdx + 8*rax]
    test al, 1
    jne .L37
.L38:
    mov dword ptr [rdi + 692], -1
.L39:
    mov rcx, qword ptr [rdi + 312]
    test rcx, rcx
    je .L35
    lea rax, [rcx - 1]
    mov qword ptr [rdi + 312], rax
    mov rax, qword ptr [rdi + 288]
    mov rdx, qword ptr [rdi + 304]
    mov esi, dword ptr [rdx + 4*rcx - 4]
    cmp rax, rsi
    jbe .L36
    mov rax, qword ptr [rdi + 280]
    imul rcx, rsi, 104
    mov rdx, qword ptr [rax + rcx + 64]
    mov rax, qword ptr [rax + rcx + 80]
    mov rax, qword ptr [rdx + 8*rax]
    test al, 1
    je .L39
    mov rbx, rdi
    call <oxmpi_shm::transport::tx::ShmTx<B>::wake>
    mov rdi, rbx
    jmp .L39
.L35:
    pop rbx
    ret
.L37:
    mov rbx, rdi
    call <oxmpi_shm::transport::tx::ShmTx<B>::wake>
    mov rdi, rbx
    jmp .L38
.L36:
    mov edx, offset .L40
    mov rdi, rsi
    mov rsi, rax
    call <core::panicking::panic_bounds_check>
