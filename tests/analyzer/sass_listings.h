// Listings in the format of `nvdisasm -c -g`, of kernels as nvcc compiles them for sm_90.
#pragma once

#include <string>
#include <string_view>

namespace wicprof::analyzer::listings {

/// A listing of one kernel with the instructions and labels in `body`.
inline std::string kernel(std::string_view symbol, std::string_view body) {
  const std::string name(symbol);
  return "\t.headerflags\t@\"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS EF_CUDA_SM90 "
         "EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)\"\n"
         "\t.elftype\t@\"ET_EXEC\"\n\n\n"
         "//--------------------- .text." +
         name +
         "           --------------------------\n"
         "\t.section\t.text." +
         name +
         ",\"ax\",@progbits\n"
         "\t.sectioninfo\t@\"SHI_REGISTERS=10\"\n\t.align\t128\n"
         "        .global         " +
         name + "\n        .type           " + name +
         ",@function\n"
         "        .size           " +
         name + ",(.L_x_99 - " + name +
         ")\n"
         "        .other          " +
         name + ",@\"STO_CUDA_ENTRY STV_DEFAULT\"\n" + name + ":\n.text." + name + ":\n" + std::string(body) +
         ".L_x_99:\n";
}

/// if (threadIdx.x == 0) while (*flag == 0) {}  __syncthreads();  with a volatile flag.
inline constexpr std::string_view kVolatilePoll = R"(
	//## File "/home/user/poll.cu", line 3
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   S2R R0, SR_TID.X ;
        /*0020*/                   ULDC.64 UR4, c[0x0][0x208] ;
        /*0030*/                   HFMA2.MMA R7, -RZ, RZ, 0, 5.9604644775390625e-08 ;
        /*0040*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*0050*/               @P0 BRA `(.L_x_0) ;
        /*0060*/                   LDC.64 R4, c[0x0][0x210] ;
.L_x_1:
	//## File "/home/user/poll.cu", line 7
        /*0070*/                   LDG.E.STRONG.SYS R0, desc[UR4][R4.64] ;
        /*0080*/                   YIELD ;
        /*0090*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*00a0*/              @!P0 BRA `(.L_x_1) ;
.L_x_0:
	//## File "/home/user/poll.cu", line 8
        /*00b0*/                   WARPSYNC.ALL ;
        /*00c0*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
	//## File "/home/user/poll.cu", line 9
        /*00d0*/                   LDC.64 R2, c[0x0][0x218] ;
        /*00e0*/                   STG.E desc[UR4][R2.64], R7 ;
        /*00f0*/                   EXIT ;
.L_x_2:
        /*0100*/                   BRA `(.L_x_2);
        /*0110*/                   NOP;
)";

/// while (ref.load(acquire) < n) {}  with a cuda::atomic_ref: the load is in the toolkit's header.
inline constexpr std::string_view kAcquirePoll = R"(
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   LDC.64 R2, c[0x0][0x210] ;
        /*0020*/                   ULDC.64 UR4, c[0x0][0x208] ;
        /*0030*/                   ULDC UR6, c[0x0][0x218] ;
.L_x_0:
	//## File "/usr/local/cuda/include/cuda/std/__atomic/functions/cuda_ptx_generated.h", line 470 inlined at "/usr/local/cuda/include/cuda/std/__atomic/api/common.h", line 60
	//## File "/usr/local/cuda/include/cuda/std/__atomic/api/common.h", line 60 inlined at "/home/user/spin.h", line 12
	//## File "/home/user/spin.h", line 12 inlined at "/home/user/main.cu", line 40
	//## File "/home/user/main.cu", line 40
        /*0040*/                   LD.E.STRONG.SYS R0, desc[UR4][R2.64] ;
        /*0050*/                   CCTL.IVALL ;
        /*0060*/                   ISETP.GE.AND P0, PT, R0, UR6, PT ;
        /*0070*/              @!P0 BRA `(.L_x_0) ;
        /*0080*/                   EXIT ;
)";

/// while (*flag < want) { if (globaltimer - start > limit) { ok = 0; break; } }
inline constexpr std::string_view kDeadlinePoll = R"(
        /*0000*/                   CS2R R2, SR_GLOBALTIMERLO ;
        /*0010*/                   ULDC.64 UR4, c[0x0][0x208] ;
        /*0020*/                   LDC.64 R6, c[0x0][0x210] ;
.L_x_1:
        /*0030*/                   LDG.E.STRONG.SYS R0, desc[UR4][R6.64] ;
        /*0040*/                   YIELD ;
        /*0050*/                   PLOP3.LUT P0, PT, PT, PT, PT, 0x80, 0x0 ;
        /*0060*/                   ISETP.GE.U32.AND P1, PT, R0, UR6, PT ;
        /*0070*/               @P1 BRA `(.L_x_0) ;
        /*0080*/                   CS2R R4, SR_GLOBALTIMERLO ;
        /*0090*/                   IADD3 R0, P0, -R2, R4, RZ ;
        /*00a0*/                   IMAD.X R4, R5, 0x1, ~R3, P0 ;
        /*00b0*/                   ISETP.GT.U32.AND P0, PT, R0, UR8, PT ;
        /*00c0*/                   ISETP.GT.U32.AND.EX P0, PT, R4, UR9, PT, P0 ;
        /*00d0*/              @!P0 BRA `(.L_x_1) ;
.L_x_0:
        /*00e0*/                   BAR.RED.AND.DEFER_BLOCKING 0x0, P0 ;
        /*00f0*/                   EXIT ;
)";

/// while (*flag == 0) { __nanosleep(ns); if (ns < 4096) ns *= 2; }
inline constexpr std::string_view kSleepingPoll = R"(
        /*0000*/                   LDC.64 R2, c[0x0][0x210] ;
        /*0010*/                   IMAD.MOV.U32 R0, RZ, RZ, 0x8 ;
.L_x_0:
        /*0020*/                   NANOSLEEP R0 ;
        /*0030*/                   LDG.E.STRONG.SYS R6, desc[UR4][R2.64] ;
        /*0040*/                   ISETP.GE.U32.AND P0, PT, R0, 0x1000, PT ;
        /*0050*/                   SEL R7, RZ, 0x1, P0 ;
        /*0060*/                   SHF.L.U32 R0, R0, R7, RZ ;
        /*0070*/                   ISETP.NE.AND P1, PT, R6, RZ, PT ;
        /*0080*/              @!P1 BRA `(.L_x_0) ;
        /*0090*/                   EXIT ;
)";

/// while (atomicAdd(flag, 0) == 0) {}: one lane polls for its warp.
inline constexpr std::string_view kAtomicPoll = R"(
        /*0000*/                   S2R R5, SR_LANEID ;
        /*0010*/                   LDC.64 R2, c[0x0][0x210] ;
        /*0020*/                   ULDC.64 UR4, c[0x0][0x208] ;
.L_x_0:
        /*0030*/                   VOTEU.ANY UR6, UPT, PT ;
        /*0040*/                   FLO.U32 R0, UR6 ;
        /*0050*/                   ISETP.EQ.U32.AND P0, PT, R0, R5, PT ;
        /*0060*/               @P0 ATOMG.E.ADD.STRONG.GPU PT, R7, desc[UR4][R2.64], RZ ;
        /*0070*/                   SHFL.IDX PT, R7, R7, R0, 0x1f ;
        /*0080*/                   ISETP.NE.AND P0, PT, R7, RZ, PT ;
        /*0090*/              @!P0 BRA `(.L_x_0) ;
        /*00a0*/                   EXIT ;
)";

/// do { while (*lock != 0) {} } while (atomicCAS(lock, 0, 1) != 0);
inline constexpr std::string_view kLock = R"(
        /*0000*/                   LDC.64 R2, c[0x0][0x210] ;
        /*0010*/                   BSSY B0, `(.L_x_1) ;
        /*0020*/                   ULDC.64 UR4, c[0x0][0x208] ;
.L_x_0:
        /*0030*/                   LDG.E.STRONG.SYS R0, desc[UR4][R2.64] ;
        /*0040*/                   YIELD ;
        /*0050*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*0060*/               @P0 BRA `(.L_x_0) ;
        /*0070*/                   HFMA2.MMA R4, -RZ, RZ, 0, 0 ;
        /*0080*/                   IMAD.MOV.U32 R5, RZ, RZ, 0x1 ;
        /*0090*/                   ATOMG.E.CAS.STRONG.GPU PT, R0, [R2], R4, R5 ;
        /*00a0*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*00b0*/               @P0 BRA `(.L_x_0) ;
        /*00c0*/                   BSYNC B0 ;
.L_x_1:
        /*00d0*/                   MEMBAR.SC.GPU ;
        /*00e0*/                   EXIT ;
)";

/// cooperative_groups::this_grid().sync(), starting at the arrival.
inline constexpr std::string_view kGridBarrier = R"(
        /*0000*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0010*/               @P0 BRA `(.L_x_1) ;
        /*0020*/               @P0 MEMBAR.ALL.GPU ;
        /*0030*/               @P0 ERRBAR ;
        /*0040*/               @P0 ATOM.E.ADD.STRONG.GPU PT, R7, desc[UR12][R4.64+0x4], R7 ;
        /*0050*/                   S2R R8, SR_LTMASK ;
        /*0060*/                   LOP3.LUT R8, R8, UR14, RZ, 0xc0, !PT ;
        /*0070*/                   POPC R9, R8 ;
        /*0080*/                   SHFL.IDX PT, R0, R7, R6, 0x1f ;
        /*0090*/                   IMAD R0, R9, UR4, R0 ;
.L_x_0:
        /*00a0*/                   LD.E.STRONG.GPU R7, desc[UR12][R4.64+0x4] ;
        /*00b0*/                   CCTL.IVALL ;
        /*00c0*/                   YIELD ;
        /*00d0*/                   LOP3.LUT R7, R7, R0, RZ, 0x3c, !PT ;
        /*00e0*/                   ISETP.GT.AND P0, PT, R7, -0x1, PT ;
        /*00f0*/               @P0 BRA `(.L_x_0) ;
.L_x_1:
        /*0100*/                   WARPSYNC.ALL ;
        /*0110*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0120*/                   EXIT ;
)";

/// while (*flag == 0) __threadfence();  with an ordinary flag: the fence makes the compiler reload it.
inline constexpr std::string_view kFencedPoll = R"(
        /*0000*/                   LDC.64 R2, c[0x0][0x210] ;
.L_x_0:
        /*0010*/                   MEMBAR.SC.GPU ;
        /*0020*/                   ERRBAR ;
        /*0030*/                   CGAERRBAR ;
        /*0040*/                   CCTL.IVALL ;
        /*0050*/                   LDG.E R0, desc[UR4][R2.64] ;
        /*0060*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*0070*/              @!P0 BRA `(.L_x_0) ;
        /*0080*/                   EXIT ;
)";

/// Two flags, polled one after the other; the slow path is after the kernel's end (as for an abort flag).
inline constexpr std::string_view kTwoFlags = R"(
        /*0000*/                   LDC.64 R2, c[0x0][0x210] ;
        /*0010*/                   LDC.64 R8, c[0x0][0x218] ;
.L_x_0:
        /*0020*/                   LDG.E.64.STRONG.SYS R4, desc[UR4][R2.64] ;
        /*0030*/                   ISETP.GE.U32.AND P0, PT, R4, R10, PT ;
        /*0040*/                   ISETP.GE.U32.AND.EX P0, PT, R5, R11, PT, P0 ;
        /*0050*/              @!P0 BRA `(.L_x_1) ;
        /*0060*/                   EXIT ;
.L_x_1:
        /*0070*/                   LDG.E.STRONG.SYS R6, desc[UR4][R8.64] ;
        /*0080*/                   ISETP.NE.AND P1, PT, R6, RZ, PT ;
        /*0090*/              @!P1 BRA `(.L_x_0) ;
        /*00a0*/                   EXIT ;
)";

/// for (i = ...; i < n; i += stride) b[i] = a[i] * 2 + 1;
inline constexpr std::string_view kStreaming = R"(
        /*0000*/                   LDC.64 R8, c[0x0][0x218] ;
.L_x_0:
        /*0010*/                   IMAD.WIDE R2, R0, 0x4, R6 ;
        /*0020*/                   LDG.E R2, desc[UR6][R2.64] ;
        /*0030*/                   HFMA2.MMA R11, -RZ, RZ, 1.875, 0 ;
        /*0040*/                   IMAD.WIDE R4, R0, 0x4, R8 ;
        /*0050*/                   IADD3 R0, R0, UR4, RZ ;
        /*0060*/                   ISETP.GE.AND P0, PT, R0, UR8, PT ;
        /*0070*/                   FFMA R11, R2, 2, R11 ;
        /*0080*/                   STG.E desc[UR6][R4.64], R11 ;
        /*0090*/              @!P0 BRA `(.L_x_0) ;
        /*00a0*/                   EXIT ;
)";

/// for (...) sum += a[i];  over volatile memory: strong loads, no stores, but the addresses advance.
inline constexpr std::string_view kStrongSum = R"(
        /*0000*/                   LDC.64 R6, c[0x0][0x210] ;
.L_x_0:
        /*0010*/                   IMAD.WIDE R2, R11, 0x4, R6 ;
        /*0020*/                   LDG.E.STRONG.SYS R2, desc[UR4][R2.64] ;
        /*0030*/                   IADD3 R11, R0, R11, RZ ;
        /*0040*/                   ISETP.GE.AND P0, PT, R11, UR6, PT ;
        /*0050*/                   IADD3 R9, R2, R9, RZ ;
        /*0060*/              @!P0 BRA `(.L_x_0) ;
        /*0070*/                   EXIT ;
)";

/// while (text[n]) ++n;  the loaded value decides, but the address advances.
inline constexpr std::string_view kSearch = R"(
        /*0000*/                   UMOV UR4, URZ ;
.L_x_0:
        /*0010*/                   UIADD3 UR5, UP0, UR4, UR10, URZ ;
        /*0020*/                   UIADD3.X UR8, URZ, UR11, URZ, UP0, !UPT ;
        /*0030*/                   MOV R2, UR5 ;
        /*0040*/                   MOV R3, UR8 ;
        /*0050*/                   LDG.E.U8.STRONG.SYS R2, desc[UR6][R2.64] ;
        /*0060*/                   UIADD3 UR4, UR4, 0x1, URZ ;
        /*0070*/                   ISETP.NE.AND P0, PT, R2, RZ, PT ;
        /*0080*/               @P0 BRA `(.L_x_0) ;
        /*0090*/                   EXIT ;
)";

/// while (*q) q = *q;
inline constexpr std::string_view kPointerChase = R"(
        /*0000*/                   LDC.64 R2, c[0x0][0x210] ;
.L_x_0:
        /*0010*/                   LD.E.64 R2, desc[UR4][R2.64] ;
        /*0020*/                   LD.E.64 R4, desc[UR4][R2.64] ;
        /*0030*/                   ISETP.NE.U32.AND P0, PT, R4, RZ, PT ;
        /*0040*/                   ISETP.NE.AND.EX P0, PT, R5, RZ, PT, P0 ;
        /*0050*/               @P0 BRA `(.L_x_0) ;
        /*0060*/                   EXIT ;
)";

/// do { seen = old; old = atomicCAS(word, seen, f(seen)); } while (old != seen);
inline constexpr std::string_view kAtomicUpdate = R"(
        /*0000*/                   LDC.64 R2, c[0x0][0x210] ;
        /*0010*/                   LDG.E R4, desc[UR4][R2.64] ;
.L_x_0:
        /*0020*/                   FFMA R5, R4, 1.5, R7 ;
        /*0030*/                   YIELD ;
        /*0040*/                   ATOMG.E.CAS.STRONG.GPU PT, R5, [R2], R4, R5 ;
        /*0050*/                   ISETP.NE.AND P0, PT, R4, R5, PT ;
        /*0060*/                   MOV R4, R5 ;
        /*0070*/               @P0 BRA `(.L_x_0) ;
        /*0080*/                   EXIT ;
)";

/// mbarrier.try_wait in a loop, as in pipelines of asynchronous copies.
inline constexpr std::string_view kTryWait = R"(
        /*0000*/                   MOV R2, 0x0 ;
.L_x_0:
        /*0010*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R1+URZ], R2 ;
        /*0020*/              @!P0 BRA `(.L_x_0) ;
        /*0030*/                   EXIT ;
)";

/// for (int i = 0; i < 8 && !mbarrier.try_wait; ++i) {}
inline constexpr std::string_view kCountedTries = R"(
        /*0000*/                   MOV R2, RZ ;
.L_x_0:
        /*0010*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR5], R5 ;
        /*0020*/                   IADD3 R2, R2, 0x1, RZ ;
        /*0030*/                   ISETP.LT.U32.AND P0, PT, R2, 0x8, !P0 ;
        /*0040*/               @P0 BRA `(.L_x_0) ;
        /*0050*/                   EXIT ;
)";

/// while (!mbarrier.try_wait) x = x * a + b;
inline constexpr std::string_view kWorkBetweenTries = R"(
        /*0000*/                   MOV R2, RZ ;
.L_x_0:
        /*0010*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR5], R5 ;
        /*0020*/                   FFMA R2, R2, R3, 0.5 ;
        /*0030*/              @!P0 BRA `(.L_x_0) ;
        /*0040*/                   STG.E desc[UR4][R6.64], R2 ;
        /*0050*/                   EXIT ;
)";

/// A kernel with warps that copy tiles and warps that multiply them: each asks once in its main loop, and waits behind
/// the kernel's end.
inline constexpr std::string_view kPipeline = R"(
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   ISETP.GE.U32.AND P1, PT, R0, 0x20, PT ;
        /*0020*/               @P1 BRA `(.L_x_1) ;
.L_x_0:
        /*0030*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R24+URZ+0x38], R7 ;
        /*0040*/              @!P0 BRA `(.L_x_3) ;
.L_x_4:
        /*0050*/                   UTMALDG.2D [UR8], [UR4] ;
        /*0060*/                   IADD3 R4, R4, -0x1, RZ ;
        /*0070*/                   BRA `(.L_x_0) ;
.L_x_1:
        /*0080*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR8], R19 ;
        /*0090*/              @!P0 BRA `(.L_x_5) ;
.L_x_2:
        /*00a0*/                   HGMMA.64x128x8.F32.TF32 R24, gdesc[UR8], R24 ;
        /*00b0*/                   SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R19+URZ], RZ ;
        /*00c0*/                   BRA `(.L_x_1) ;
.L_x_3:
        /*00d0*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R24+URZ+0x38], R7 ;
        /*00e0*/              @!P0 BRA `(.L_x_3) ;
        /*00f0*/                   BRA `(.L_x_4) ;
.L_x_5:
        /*0100*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR8], R19 ;
        /*0110*/              @!P0 NANOSLEEP.SYNCS 0x989680 ;
        /*0120*/              @!P0 SYNCS.PHASECHK.TRANS64 P0, [UR8], R19 ;
        /*0130*/              @!P0 BRA `(.L_x_5) ;
        /*0140*/                   BRA `(.L_x_2) ;
)";

/// From a listing by nvdisasm 13.0 for sm_90, as printed: while (*flag == 0 && clock64() - start <= limit) {}
inline constexpr std::string_view kRealSpin = R"(
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   ULDC.64 UR4, c[0x0][0x208] ;
        /*0020*/                   CS2R R4, SR_CLOCKLO ;
        /*0030*/                   LDC.64 R2, c[0x0][0x210] ;
        /*0040*/                   ULDC.64 UR6, c[0x0][0x220] ;
.L_x_9:
        /*0050*/                   LDG.E.STRONG.SYS R0, desc[UR4][R2.64] ;
        /*0060*/                   CS2R R6, SR_CLOCKLO ;
        /*0070*/                   IADD3 R8, P0, -R4, R6, RZ ;
        /*0080*/                   ISETP.EQ.AND P1, PT, R0, RZ, PT ;
        /*0090*/                   IMAD.X R6, R7, 0x1, ~R5, P0 ;
        /*00a0*/                   ISETP.GT.U32.AND P0, PT, R8, UR6, PT ;
        /*00b0*/                   ISETP.GT.AND.EX P0, PT, R6, UR7, PT, P0 ;
        /*00c0*/              @!P0 BRA P1, `(.L_x_9) ;
        /*00d0*/                   LDG.E.STRONG.SYS R3, desc[UR4][R2.64] ;
        /*00e0*/                   LDC.64 R4, c[0x0][0x218] ;
        /*00f0*/                   S2R R7, SR_CTAID.X ;
        /*0100*/                   IMAD.WIDE.U32 R4, R7, 0x4, R4 ;
        /*0110*/                   STG.E desc[UR4][R4.64], R3 ;
        /*0120*/                   EXIT ;
.L_x_10:
        /*0130*/                   BRA `(.L_x_10);
        /*0140*/                   NOP;
        /*0150*/                   NOP;
        /*0160*/                   NOP;
        /*0170*/                   NOP;
        /*0180*/                   NOP;
        /*0190*/                   NOP;
        /*01a0*/                   NOP;
        /*01b0*/                   NOP;
        /*01c0*/                   NOP;
        /*01d0*/                   NOP;
        /*01e0*/                   NOP;
        /*01f0*/                   NOP;
)";

/// From the same listing: for (int i = 0; i < n; ++i) { a = a * k + b; b = b * l + a; }, unrolled by the compiler.
inline constexpr std::string_view kRealWork = R"(
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   S2R R5, SR_TID.X ;
        /*0020*/                   LDC.64 R2, c[0x0][0x210] ;
        /*0030*/                   ULDC.64 UR4, c[0x0][0x208] ;
        /*0040*/                   LDC R11, c[0x0][0x218] ;
        /*0050*/                   IMAD.WIDE.U32 R6, R5, 0x4, R2 ;
        /*0060*/                   LDG.E R6, desc[UR4][R6.64] ;
        /*0070*/                   ISETP.GE.AND P0, PT, R11, 0x1, PT ;
        /*0080*/                   FADD R9, R6, 1 ;
        /*0090*/              @!P0 BRA `(.L_x_1) ;
        /*00a0*/                   IADD3 R0, R11.reuse, -0x1, RZ ;
        /*00b0*/                   LOP3.LUT R4, R11, 0x3, RZ, 0xc0, !PT ;
        /*00c0*/                   ISETP.GE.U32.AND P0, PT, R0, 0x3, PT ;
        /*00d0*/              @!P0 BRA `(.L_x_2) ;
        /*00e0*/                   IADD3 R0, -R4, R11, RZ ;
        /*00f0*/                   ISETP.GT.AND P0, PT, R0, RZ, PT ;
        /*0100*/              @!P0 BRA `(.L_x_3) ;
        /*0110*/                   ISETP.GT.AND P1, PT, R0, 0xc, PT ;
        /*0120*/                   PLOP3.LUT P0, PT, PT, PT, PT, 0x80, 0x0 ;
        /*0130*/              @!P1 BRA `(.L_x_4) ;
        /*0140*/                   PLOP3.LUT P0, PT, PT, PT, PT, 0x8, 0x0 ;
.L_x_5:
        /*0150*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*0160*/                   IADD3 R0, R0, -0x10, RZ ;
        /*0170*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*0180*/                   ISETP.GT.AND P1, PT, R0, 0xc, PT ;
        /*0190*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*01a0*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*01b0*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*01c0*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*01d0*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*01e0*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*01f0*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*0200*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*0210*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*0220*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*0230*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*0240*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*0250*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*0260*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*0270*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*0280*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*0290*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*02a0*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*02b0*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*02c0*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*02d0*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*02e0*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*02f0*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*0300*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*0310*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*0320*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*0330*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*0340*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*0350*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*0360*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*0370*/               @P1 BRA `(.L_x_5) ;
.L_x_4:
        /*0380*/                   ISETP.GT.AND P1, PT, R0, 0x4, PT ;
        /*0390*/              @!P1 BRA `(.L_x_6) ;
        /*03a0*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*03b0*/                   PLOP3.LUT P0, PT, PT, PT, PT, 0x8, 0x0 ;
        /*03c0*/                   IADD3 R0, R0, -0x8, RZ ;
        /*03d0*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*03e0*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*03f0*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*0400*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*0410*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*0420*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*0430*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*0440*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*0450*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*0460*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*0470*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*0480*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*0490*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*04a0*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*04b0*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
.L_x_6:
        /*04c0*/                   ISETP.NE.OR P0, PT, R0, RZ, P0 ;
        /*04d0*/              @!P0 BRA `(.L_x_2) ;
.L_x_3:
        /*04e0*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*04f0*/                   IADD3 R0, R0, -0x4, RZ ;
        /*0500*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*0510*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*0520*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*0530*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*0540*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*0550*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*0560*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*0570*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*0580*/               @P0 BRA `(.L_x_3) ;
.L_x_2:
        /*0590*/                   ISETP.NE.AND P0, PT, R4, RZ, PT ;
        /*05a0*/              @!P0 BRA `(.L_x_1) ;
.L_x_7:
        /*05b0*/                   IADD3 R4, R4, -0x1, RZ ;
        /*05c0*/                   FFMA R6, R6, 1.0001000165939331055, R9 ;
        /*05d0*/                   ISETP.NE.AND P0, PT, R4, RZ, PT ;
        /*05e0*/                   FFMA R9, R9, 0.99989998340606689453, R6 ;
        /*05f0*/               @P0 BRA `(.L_x_7) ;
.L_x_1:
        /*0600*/                   S2R R0, SR_CTAID.X ;
        /*0610*/                   ULDC UR6, c[0x0][0x0] ;
        /*0620*/                   FADD R9, R9, R6 ;
        /*0630*/                   IMAD R5, R0, UR6, R5 ;
        /*0640*/                   IMAD.WIDE.U32 R2, R5, 0x4, R2 ;
        /*0650*/                   STG.E desc[UR4][R2.64], R9 ;
        /*0660*/                   EXIT ;
.L_x_8:
        /*0670*/                   BRA `(.L_x_8);
        /*0680*/                   NOP;
        /*0690*/                   NOP;
        /*06a0*/                   NOP;
        /*06b0*/                   NOP;
        /*06c0*/                   NOP;
        /*06d0*/                   NOP;
        /*06e0*/                   NOP;
        /*06f0*/                   NOP;
)";

/// do { seen = *word; old = atomicCAS(word, seen, f(seen)); } while (old != seen);  the word is reread in each
/// round.
inline constexpr std::string_view kRereadUpdate = R"(
        /*0000*/                   LDC.64 R2, c[0x0][0x210] ;
.L_x_0:
        /*0010*/                   LDG.E.STRONG.SYS R4, desc[UR4][R2.64] ;
        /*0020*/                   YIELD ;
        /*0030*/                   IADD3 R5, R4, 0x3, RZ ;
        /*0040*/                   ATOMG.E.CAS.STRONG.GPU PT, R7, [R2], R4, R5 ;
        /*0050*/                   ISETP.NE.AND P0, PT, R7, R4, PT ;
        /*0060*/               @P0 BRA `(.L_x_0) ;
        /*0070*/                   EXIT ;
)";

/// while (!*found) { s = xorshift(s); if (hash(s) == want) break; }
inline constexpr std::string_view kSearchWithStop = R"(
        /*0000*/                   LDC.64 R2, c[0x0][0x210] ;
.L_x_0:
        /*0010*/                   LDG.E.STRONG.SYS R0, desc[UR4][R2.64] ;
        /*0020*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*0030*/               @P0 EXIT ;
        /*0040*/                   SHF.L.U32 R4, R5, 0xd, RZ ;
        /*0050*/                   LOP3.LUT R5, R5, R4, RZ, 0x3c, !PT ;
        /*0060*/                   SHF.R.U32.HI R4, RZ, 0x11, R5 ;
        /*0070*/                   LOP3.LUT R5, R5, R4, RZ, 0x3c, !PT ;
        /*0080*/                   SHF.L.U32 R4, R5, 0x5, RZ ;
        /*0090*/                   LOP3.LUT R5, R5, R4, RZ, 0x3c, !PT ;
        /*00a0*/                   IMAD R6, R5, 0x9e3779b1, RZ ;
        /*00b0*/                   SHF.R.U32.HI R6, RZ, 0xf, R6 ;
        /*00c0*/                   ISETP.NE.AND P1, PT, R6, UR6, PT ;
        /*00d0*/               @P1 BRA `(.L_x_0) ;
        /*00e0*/                   STG.E desc[UR4][R8.64], R5 ;
        /*00f0*/                   EXIT ;
)";

/// for (n = 0; *flag == 0 && n < limit; ++n) {}
inline constexpr std::string_view kCountedPoll = R"(
        /*0000*/                   LDC.64 R2, c[0x0][0x210] ;
.L_x_0:
        /*0010*/                   LDG.E.STRONG.SYS R0, desc[UR4][R2.64] ;
        /*0020*/                   IADD3 R4, R4, 0x1, RZ ;
        /*0030*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*0040*/                   ISETP.GE.OR P0, PT, R4, UR6, P0 ;
        /*0050*/              @!P0 BRA `(.L_x_0) ;
        /*0060*/                   EXIT ;
)";

/// while ((i = atomicAdd(next, 1)) < n) sum += i;
inline constexpr std::string_view kDrawNumbers = R"(
        /*0000*/                   LDC.64 R2, c[0x0][0x210] ;
        /*0010*/                   HFMA2.MMA R5, -RZ, RZ, 0, 5.9604644775390625e-08 ;
.L_x_0:
        /*0020*/                   ATOMG.E.ADD.STRONG.GPU PT, R0, desc[UR4][R2.64], R5 ;
        /*0030*/                   ISETP.GE.AND P0, PT, R0, UR6, PT ;
        /*0040*/              @!P0 BRA `(.L_x_0) ;
        /*0050*/                   EXIT ;
)";

/// while (atomicOr(lock, 1) & 1) {}
inline constexpr std::string_view kSetBit = R"(
        /*0000*/                   LDC.64 R2, c[0x0][0x210] ;
        /*0010*/                   HFMA2.MMA R5, -RZ, RZ, 0, 5.9604644775390625e-08 ;
.L_x_0:
        /*0020*/                   ATOMG.E.OR.STRONG.GPU PT, R0, desc[UR4][R2.64], R5 ;
        /*0030*/                   LOP3.LUT P0, RZ, R0, 0x1, RZ, 0xc0, !PT ;
        /*0040*/               @P0 BRA `(.L_x_0) ;
        /*0050*/                   EXIT ;
)";

}  // namespace wicprof::analyzer::listings
