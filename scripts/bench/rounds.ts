/** Interleaved rounds: in each, every operation is sent to one server after the other, each round begins with the next. */
import postgres from 'postgres'
import type { Progress } from '#scripts/cli/progress'
import { startTarget, type Target } from './child.ts'
import { postgresCpuMicros } from './cpu.ts'
import { emptyCreated } from './fixture.ts'
import { type Fixture, type OperationName, type TargetName, targetNames } from './kinds.ts'
import { type Load, sendLoad } from './load.ts'
import { checkSameAnswers } from './same.ts'

export interface Measurement extends Load {
  round: number
  operation: OperationName
  target: TargetName
  /** Of a request: transactions that PostgreSQL counted, each statement outside of one as its own. */
  transactions: number
  serverCpuMicros: number
  /** Null where PostgreSQL's processes cannot be looked at. */
  postgresCpuMicros: number | null
}

export interface RunOptions {
  fixture: Fixture
  fixturePath: string
  dataDir: string
  operations: readonly OperationName[]
  rounds: number
  seconds: number
  connections: number
  /** Counts the seconds that are measured. */
  progress: Progress
}

/** Of each server and operation, before its first measurement and without being counted, seconds. */
const warmUpSeconds = (seconds: number): number => Math.min(5, seconds, Math.max(1, seconds / 6))

export async function measure(options: RunOptions): Promise<Measurement[]> {
  const targets: Target[] = []
  try {
    for (const name of targetNames) {
      targets.push(await startTarget(name, options.fixturePath))
    }
    await checkSameAnswers(targets, options.operations, options.fixture)
    return await runRounds(options, targets)
  } finally {
    await Promise.all(targets.map((target) => target.stop()))
  }
}

async function runRounds(options: RunOptions, targets: Target[]): Promise<Measurement[]> {
  const { fixture, operations, rounds, seconds, connections, progress } = options
  const warmUp = warmUpSeconds(seconds)
  progress.begin('Measuring', operations.length * targets.length * (warmUp + rounds * seconds))
  const measurements: Measurement[] = []
  let done = 0
  const load = async (operation: OperationName, target: Target, length: number): Promise<Load> => {
    const sent = await sendLoad(target.url, operation, fixture, connections, length)
    if (operation === 'create') await emptyCreated(fixture)
    return sent
  }
  for (let round = 0; round <= rounds; round += 1) {
    for (const operation of operations) {
      for (let i = 0; i < targets.length; i += 1) {
        const target = targets[(i + round) % targets.length]!
        const what = `${operation} of ${target.name}`
        progress.at(done, round === 0 ? `warm-up: ${what}` : `round ${round} of ${rounds}: ${what}`)
        done += round === 0 ? warmUp : seconds
        if (round === 0) {
          await load(operation, target, warmUp)
          continue
        }
        const transactionsBefore = await transactionsOf(fixture)
        const postgresBefore = postgresCpuMicros(options.dataDir)
        const serverBefore = await target.cpuMicros()
        const sent = await sendLoad(target.url, operation, fixture, connections, seconds)
        const cpuAfter = { server: await target.cpuMicros(), postgres: postgresCpuMicros(options.dataDir) }
        const transactions = (await transactionsOf(fixture)) - transactionsBefore
        if (operation === 'create') await emptyCreated(fixture)
        measurements.push({
          round,
          operation,
          target: target.name,
          ...sent,
          transactions: transactions / sent.requests,
          serverCpuMicros: (cpuAfter.server - serverBefore) / sent.requests,
          postgresCpuMicros: perRequest(postgresBefore, cpuAfter.postgres, sent.requests),
        })
      }
    }
  }
  return measurements
}

/** Each process of PostgreSQL tells of its own once it has been idle for a second. */
async function transactionsOf({ databaseUrl }: Fixture): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 1500))
  const sql = postgres(databaseUrl, { max: 1 })
  const [row] = await sql<{ n: number }[]>`
    select xact_commit::float8 as n from pg_stat_database where datname = current_database()`
  await sql.end()
  return row!.n
}

function perRequest(before: number | null, after: number | null, requests: number): number | null {
  return before === null || after === null ? null : (after - before) / requests
}
