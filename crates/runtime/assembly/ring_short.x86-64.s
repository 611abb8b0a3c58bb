# ring_short: 90 instructions, release, one codegen unit, target-cpu x86-64
# made by rustc 1.95.0 (59807616e 2026-04-14), LLVM 22.1.2

    mov eax, esi
    cmp qword ptr [rdi + 288], rax
    jbe .L0
    push rbp
    push r15
    push r14
    push r12
    push rbx
    mov rbx, qword ptr [rdi + 280]
    shl rax, 8
    cmp dword ptr [rbx + rax + 96], 9
    jae .L1
.L2:
    xor eax, eax
    jmp .L3
.L0:
    xor eax, eax
    ret
.L1:
    add rbx, rax
    mov eax, dword ptr [rbx + 4]
    cmp eax, dword ptr [rbx]
    je .L4
.L5:
    movabs rax, 17179869184
    mov rcx, qword ptr [rcx]
    cmp byte ptr [rbx + 72], 2
    jne .L6
    mov r8, qword ptr [rbx + 32]
    mov qword ptr [r8 + 16], rcx
    mov ecx, dword ptr [rdx + 12]
    shl ecx, 16
    or ecx, dword ptr [rdx + 8]
    mov r9d, dword ptr [rdx]
    mov edx, dword ptr [rdx + 4]
    shl r9, 32
    or r9, rdx
    mov qword ptr [r8 + 8], r9
    mov edx, dword ptr [rbx]
    mov byte ptr [rbx + 72], 0
    mov dword ptr [rbx + 60], edx
    inc dword ptr [rbx + 68]
    mov rdx, qword ptr [rbx + 48]
    add rcx, rdx
    add rax, rdx
    mov qword ptr [rbx + 48], rax
    mov qword ptr [r8], rcx
    jmp .L7
.L6:
    mov r8d, dword ptr [rbx + 56]
    and r8d, dword ptr [rbx]
    mov r9, qword ptr [rbx + 16]
    shl r8, 7
    mov qword ptr [r9 + r8 + 16], rcx
    mov ecx, dword ptr [rdx + 12]
    shl ecx, 16
    or ecx, dword ptr [rdx + 8]
    mov r10d, dword ptr [rdx]
    mov edx, dword ptr [rdx + 4]
    shl r10, 32
    or r10, rdx
    mov qword ptr [r9 + r8 + 8], r10
    inc dword ptr [rbx]
    mov rdx, qword ptr [rbx + 48]
    add rcx, rdx
    add rax, rdx
    mov qword ptr [rbx + 48], rax
    mov qword ptr [r9 + r8], rcx
.L7:
    mov rax, qword ptr [rbx + 80]
    mov rcx, qword ptr [rax]
    mov al, 1
    test cl, 1
    jne .L8
.L3:
    pop rbx
    pop r12
    pop r14
    pop r15
    pop rbp
    ret
.L4:
    mov r14, rdi
    mov rdi, rbx
    mov ebp, esi
    mov r12, rdx
    mov r15, rcx
    call <oxmpi_shm::transport::link::SendLink::poll_credits>
    mov rcx, r15
    mov rdx, r12
    mov rdi, r14
    mov esi, ebp
    test al, al
    je .L2
    jmp .L5
.L8:
    call <oxmpi_shm::transport::tx::ShmTx<B>::wake>
    mov al, 1
    jmp .L3
