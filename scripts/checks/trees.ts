/** A thread of its own: half of the rules that files are read for. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Fault } from '#runtime/registry/checks'
import { amountFaults } from './amounts.ts'
import { clockFaults } from './clocks.ts'
import { sameBodyFaults } from './copies.ts'
import { identityFaults } from './identity.ts'
import { importFaults } from './imports.ts'
import { loopFaults } from './loops.ts'
import { noticeFaults } from './notices.ts'
import { nullFaults } from './nulls.ts'
import { roomFaults } from './rooms.ts'
import { rowFaults } from './rows.ts'
import { ruleFaults } from './rules.ts'
import { stateFaults } from './state.ts'
import { tableFaults } from './tables.ts'
import { testFaults } from './tests.ts'

/** By what they take: about as much each. */
const halves = [
  [clockFaults, ruleFaults, sameBodyFaults, roomFaults, testFaults],
  [
    importFaults,
    identityFaults,
    loopFaults,
    nullFaults,
    amountFaults,
    noticeFaults,
    rowFaults,
    tableFaults,
    stateFaults,
  ],
] as const

const { root, half } = workerData as { root: string; half: 0 | 1 }
const faults: Fault[][] = await Promise.all(halves[half].map((faultsOf) => faultsOf(root)))
parentPort!.postMessage(faults.flat())
