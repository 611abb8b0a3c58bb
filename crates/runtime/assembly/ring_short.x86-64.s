# ring_short: 87 instructions, release, one codegen unit, target-cpu x86-64
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
    mov r8, qword ptr [rcx]
    mov ecx, dword ptr [rdx + 12]
    shl ecx, 16
    or ecx, dword ptr [rdx + 8]
    mov r9d, dword ptr [rdx]
    mov edx, dword ptr [rdx + 4]
    shl r9, 32
    or r9, rdx
    cmp byte ptr [rbx + 72], 2
    jne .L6
    mov rdx, qword ptr [rbx + 32]
    mov qword ptr [rdx + 16], r8
    mov qword ptr [rdx + 8], r9
    mov r8d, dword ptr [rbx]
    mov byte ptr [rbx + 72], 0
    mov dword ptr [rbx + 60], r8d
    inc dword ptr [rbx + 68]
    mov r8, qword ptr [rbx + 48]
    mov ecx, ecx
    add rcx, r8
    add rax, r8
    mov qword ptr [rbx + 48], rax
    mov qword ptr [rdx], rcx
    jmp .L7
.L6:
    mov edx, dword ptr [rbx]
    mov r10d, dword ptr [rbx + 56]
    and r10d, edx
    mov r11, qword ptr [rbx + 16]
    shl r10, 7
    mov qword ptr [r11 + r10 + 16], r8
    mov qword ptr [r11 + r10 + 8], r9
    inc edx
    mov dword ptr [rbx], edx
    mov rdx, qword ptr [rbx + 48]
    mov ecx, ecx
    add rcx, rdx
    add rax, rdx
    mov qword ptr [rbx + 48], rax
    mov qword ptr [r11 + r10], rcx
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
