/**
 * Interleaved rounds: each operation is sent to one server after the other, and each round starts with the next server.
 */
import { deepEqual } from 'node:assert/strict'
import type { Progress } from '#scripts/cli/progress'
import { deleteCreated } from './fixture.ts'
import { type Load, sendLoad } from './load.ts'
import { type Fixture, type OperationName, operations, type TargetName, targetNames } from './operations.ts'
import { postgresCpuMicros, startTarget, type Target } from './processes.ts'

export interface Measurement extends Load {
  round: number
  operation: OperationName
  target: TargetName
  /** CPU time per request. */
  serverCpuMicros: number
  /** Null if PostgreSQL's processes cannot be read. */
  postgresCpuMicros: number | null
}

interface RunOptions {
  fixture: Fixture
  fixturePath: string
  dataDir: string
  operations: readonly OperationName[]
  rounds: number
  seconds: number
  connections: number
  progress: Progress
}

export async function compare(options: RunOptions): Promise<Measurement[]> {
  const targets: Target[] = []
  try {
    for (const name of targetNames) targets.push(await startTarget(name, options.fixturePath))
    for (const name of options.operations) await checkSameAnswers(targets, name, options.fixture)
    return await runRounds(targets, options)
  } finally {
    await Promise.all(targets.map((target) => target.stop()))
  }
}

async function runRounds(targets: readonly Target[], options: RunOptions): Promise<Measurement[]> {
  const { fixture, dataDir, operations: names, rounds, seconds, connections, progress } = options
  const warmUp = Math.min(5, seconds, Math.max(1, seconds / 6))
  progress.begin('Measuring', names.length * targets.length * (warmUp + rounds * seconds))
  const measurements: Measurement[] = []
  let done = 0
  // Round 0 is a warm-up and is not counted.
  for (let round = 0; round <= rounds; round += 1) {
    const length = round === 0 ? warmUp : seconds
    for (const name of names) {
      for (let i = 0; i < targets.length; i += 1) {
        const target = targets[(i + round) % targets.length]!
        progress.at(done, `round ${round} of ${rounds}: ${name} of ${target.name}`)
        done += length
        const serverBefore = await target.use()
        const postgresBefore = postgresCpuMicros(dataDir)
        const load = await sendLoad(target.url, name, fixture.shops, connections, length)
        const postgres = postgresCpuMicros(dataDir)
        const server = await target.use()
        if (operations[name].body) await deleteCreated(fixture)
        if (round === 0) continue
        const isKnown = postgres !== null && postgresBefore !== null
        measurements.push({
          ...{ round, operation: name, target: target.name as TargetName },
          ...load,
          serverCpuMicros: (server.cpuMicros - serverBefore.cpuMicros) / load.requests,
          postgresCpuMicros: isKnown ? (postgres - postgresBefore) / load.requests : null,
        })
      }
    }
  }
  return measurements
}

/** Throws if a server's answer differs from the gateway's. Created rows differ, so only their fields are compared. */
async function checkSameAnswers(targets: Target[], name: OperationName, { shops }: Fixture): Promise<void> {
  const { method, path, body, status } = operations[name]
  const headers = { authorization: `Bearer ${shops[0]!.key}`, 'content-type': 'application/json' }
  const answers: unknown[] = []
  for (const { name: server, url } of targets) {
    const request = { method, headers, ...(body ? { body: body() } : {}) }
    const response = await fetch(`${url}${path(shops[0]!)}`, request)
    const text = await response.text()
    if (response.status !== status) throw new Error(`${server}: ${name}: ${response.status} ${text}`)
    answers.push(body ? Object.keys(JSON.parse(text)) : JSON.parse(text))
    deepEqual(answers.at(-1), answers[0], `${server} answers ${name} differently`)
  }
}
