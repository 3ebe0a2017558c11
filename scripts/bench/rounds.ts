/** Interleaved rounds: in each, every operation is sent to one server after the other, each round begins with the next. */
import postgres from 'postgres'
import type { Progress } from '#scripts/cli/progress'
import { startTarget, type Target } from './child.ts'
import { postgresCpuMicros } from './cpu.ts'
import { emptyWritten } from './fixture.ts'
import { type Fixture, type OperationName, type Shop, type TargetName, targetNames } from './kinds.ts'
import { type Load, sendLoad, useUpLimit } from './load.ts'
import { operations, targetsOf } from './operations.ts'
import { checkSameAnswers } from './same.ts'

export interface Measurement extends Load {
  round: number
  operation: OperationName
  target: TargetName
  /** Of a request, `begin` and `commit` counted; null where PostgreSQL does not count them. */
  statements: number | null
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

/** How often a limit is used up in so many rounds, the warm-up counted. */
export const limitsUsedUp = (rounds: number): number => (rounds + 1) * targetsOf('limited').length

async function runRounds(options: RunOptions, targets: Target[]): Promise<Measurement[]> {
  const { fixture, operations: names, rounds, seconds, connections, progress } = options
  const warmUp = warmUpSeconds(seconds)
  const pairs = names.reduce((sum, name) => sum + targetsOf(name).length, 0)
  progress.begin('Measuring', pairs * (warmUp + rounds * seconds))
  const measurements: Measurement[] = []
  let done = 0
  const unlimited = [...fixture.limited]
  /** Readies the server and answers whose requests it is sent. */
  const shopsOf = async (operation: OperationName, target: Target): Promise<readonly Shop[]> => {
    if (operation !== 'limited') return fixture.shops
    const shop = unlimited.pop()!
    await useUpLimit(target.url, shop, connections)
    return [shop]
  }
  for (let round = 0; round <= rounds; round += 1) {
    for (const operation of names) {
      const asked = targets.filter(({ name }) => targetsOf(operation).includes(name))
      for (let i = 0; i < asked.length; i += 1) {
        const target = asked[(i + round) % asked.length]!
        const what = `${operation} of ${target.name}`
        progress.at(done, round === 0 ? `warm-up: ${what}` : `round ${round} of ${rounds}: ${what}`)
        done += round === 0 ? warmUp : seconds
        const shops = await shopsOf(operation, target)
        const length = round === 0 ? warmUp : seconds
        const before = await standOf(target, options)
        const sent = await sendLoad(target.url, operation, shops, connections, length)
        const after = await standOf(target, options)
        if (operations[operation].isNew) await emptyWritten(fixture)
        if (round === 0) continue
        measurements.push({
          round,
          operation,
          target: target.name,
          ...sent,
          statements: perRequest(before.statements, after.statements, sent.requests),
          serverCpuMicros: (after.server - before.server) / sent.requests,
          postgresCpuMicros: perRequest(before.postgres, after.postgres, sent.requests),
        })
      }
    }
  }
  return measurements
}

async function standOf(target: Target, { fixture, dataDir }: RunOptions) {
  return {
    statements: fixture.countsStatements ? await statementsOf(fixture) : null,
    postgres: postgresCpuMicros(dataDir),
    server: await target.cpuMicros(),
  }
}

async function statementsOf({ databaseUrl }: Fixture): Promise<number> {
  const sql = postgres(databaseUrl, { max: 1 })
  const [row] = await sql<{ n: number }[]>`select sum(calls)::float8 as n from pg_stat_statements`
  await sql.end()
  return row!.n
}

function perRequest(before: number | null, after: number | null, requests: number): number | null {
  return before === null || after === null ? null : (after - before) / requests
}
