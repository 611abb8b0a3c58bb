# ring_short: 65 instructions, release, one codegen unit, target-cpu x86-64
# made by rustc 1.95.0 (59807616e 2026-04-14), LLVM 22.1.2

    mov r8d, esi
    cmp qword ptr [rdi + 288], r8
    jbe .L0
    push rbp
    push r15
    push r14
    push r12
    push rbx
    mov r9, qword ptr [rdi + 280]
    shl r8, 7
    lea rbx, [r9 + r8]
    mov eax, dword ptr [r9 + r8 + 16]
    cmp dword ptr [r9 + r8 + 20], eax
    je .L1
.L2:
    and eax, dword ptr [rbx + 32]
    mov r8, qword ptr [rbx]
    shl rax, 7
    mov rcx, qword ptr [rcx]
    mov qword ptr [r8 + rax + 16], rcx
    mov ecx, dword ptr [rdx]
    mov r9d, dword ptr [rdx + 4]
    shl rcx, 32
    or rcx, r9
    mov qword ptr [r8 + rax + 8], rcx
    mov ecx, dword ptr [rdx + 12]
    shl ecx, 16
    or ecx, dword ptr [rdx + 8]
    mov edx, dword ptr [rbx + 16]
    inc edx
    mov dword ptr [rbx + 16], edx
    shl rdx, 32
    or rcx, rdx
    mov qword ptr [r8 + rax], rcx
    mov rax, qword ptr [rbx + 40]
    mov rcx, qword ptr [rax]
    mov al, 1
    test cl, 1
    jne .L3
.L4:
    pop rbx
    pop r12
    pop r14
    pop r15
    pop rbp
    ret
.L0:
    xor eax, eax
    ret
.L1:
    mov r14, rcx
    mov r15, rdx
    mov r12, rdi
    mov ebp, esi
    mov rdi, rbx
    call <oxmpi_shm::transport::link::Out::look>
    test al, al
    je .L5
    mov eax, dword ptr [rbx + 16]
    mov esi, ebp
    mov rdi, r12
    mov rdx, r15
    mov rcx, r14
    jmp .L2
.L3:
    call <oxmpi_shm::transport::tx::ShmTx<B>::wake>
    mov al, 1
    jmp .L4
.L5:
    xor eax, eax
    jmp .L4
