# engine_short: 76 instructions, release, one codegen unit, target-cpu x86-64
# made by rustc 1.95.0 (59807616e 2026-04-14), LLVM 22.1.2

    mov r10d, edx
    cmp qword ptr [rdi + 392], r10
    jbe .L0
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    push rax
    mov rax, qword ptr [rdi + 384]
    cmp dword ptr [rax + 8*r10], 9
    jb .L1
    sub dword ptr [rdi + 488], 1
    jb .L2
    cmp qword ptr [rsi + 288], r10
    jbe .L1
    mov rdi, qword ptr [rsi + 280]
    shl r10, 7
    lea rbx, [rdi + r10]
    mov eax, dword ptr [rdi + r10 + 16]
    cmp dword ptr [rdi + r10 + 20], eax
    je .L3
.L4:
    and eax, dword ptr [rbx + 32]
    mov rdi, qword ptr [rbx]
    shl rax, 7
    mov r9, qword ptr [r9]
    mov qword ptr [rdi + rax + 16], r9
    shl rcx, 32
    mov r8d, r8d
    or r8, rcx
    mov qword ptr [rdi + rax + 8], r8
    mov ecx, dword ptr [rbx + 16]
    inc ecx
    mov dword ptr [rbx + 16], ecx
    shl rcx, 32
    or rcx, 16777224
    mov qword ptr [rdi + rax], rcx
    mov rax, qword ptr [rbx + 40]
    mov rcx, qword ptr [rax]
    mov al, 1
    test cl, 1
    je .L5
    mov rdi, rsi
    mov esi, edx
    call <oxmpi_shm::transport::tx::ShmTx<B>::wake>
    mov al, 1
    jmp .L5
.L0:
    xor eax, eax
    ret
.L2:
    call <oxmpi_wire::engine::send::<impl oxmpi_wire::engine::Engine<T>>::poll_first>
.L1:
    xor eax, eax
.L5:
    add rsp, 8
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
.L3:
    mov r14, r9
    mov ebp, r8d
    mov r15, rcx
    mov r12, rsi
    mov r13d, edx
    mov rdi, rbx
    call <oxmpi_shm::transport::link::Out::look>
    test al, al
    je .L1
    mov eax, dword ptr [rbx + 16]
    mov edx, r13d
    mov rsi, r12
    mov rcx, r15
    mov r8d, ebp
    mov r9, r14
    jmp .L4
