/**
 * Finds faults of the database and the settings before a start, when their cause is still clear. Also notes with which
 * secret key a database is used.
 */
import { statfs } from 'node:fs/promises'
import type { Database } from '#db/database'
import { findAppliedMigrations, findNewerMigration } from '#db/migrate'
import { findUnreadyReason } from '#db/readiness'
import type { Clock } from '#runtime/clock'
import { hasValidSignature, sign } from '#runtime/secrets'
import type { Settings } from './settings.ts'

export interface Finding {
  /** A warning hinders nothing now. */
  level: 'fault' | 'warning'
  /** The fault with its remedy; begins with the setting, if there is one. */
  message: string
}

const fault = (message: string): Finding => ({ level: 'fault', message })
const warning = (message: string): Finding => ({ level: 'warning', message })

const clockToleranceMs = 2_000
const leastFreeBytes = 1024 ** 3

/**
 * Everything that `npm run doctor` reports. Works without our tables, and on a server that takes no writes. `machine`: this
 * machine's clock.
 */
export async function findIssues(
  database: Database,
  settings: Settings,
  machine: Pick<Clock, 'ms'>,
): Promise<Finding[]> {
  const found = [
    ...(await findTextIssues(database)),
    ...(await findClockIssues(database, machine)),
    ...(await findTlsIssues(database, settings)),
    ...findUrlIssues(settings),
    ...(await findDiskIssues(settings)),
  ]
  const unready = await findUnreadyReason(database)
  if (unready !== null) found.push(fault(`DATABASE_URL: ${unready}`))
  const newer = await findNewerMigration(database)
  if (newer !== null) {
    found.push(
      warning(`DATABASE_URL: this code does not know the migration ${newer}: upgrade again when you can`),
    )
  }
  const isOurs = (await findAppliedMigrations(database)).size > 0
  if (isOurs && (await hasOtherSecretKey(database, settings))) found.push(fault(otherSecretKey))
  return found
}

/** Encoding and locale, which cannot be changed once a database has rows. */
export async function findTextIssues(database: Database): Promise<Finding[]> {
  const [{ encoding }] = (await database.query<{ encoding: string }>(
    `select current_setting('server_encoding') as encoding`,
    [],
  )) as [{ encoding: string }]
  const remedy = 'make one by createdb --template=template0 --encoding=UTF8 --locale=C.UTF-8'
  if (encoding !== 'UTF8') {
    return [
      fault(`DATABASE_URL: the database has the encoding ${encoding}, and only UTF8 is right: ${remedy}`),
    ]
  }
  // Not as a text of this statement: an encoding without these letters could not parse it.
  const [row] = await database.query<{ folds: boolean }>('select lower(chr(201)) = chr(233) as folds', [])
  return row!.folds
    ? []
    : [
        fault(
          `DATABASE_URL: the locale of the database knows no accents, so "éclair" would not find "Éclair": ${remedy}`,
        ),
      ]
}

async function findClockIssues(database: Database, clock: Pick<Clock, 'ms'>): Promise<Finding[]> {
  const before = clock.ms()
  const [row] = await database.query<{ at: Date }>('select clock_timestamp() as at', [])
  const after = clock.ms()
  const at = row!.at.getTime()
  const difference = at < before ? before - at : Math.max(0, at - after)
  if (difference <= clockToleranceMs) return []
  return [
    warning(
      `The clocks of this machine and of the database differ by ${Math.round(difference / 1000)} s: set both by NTP`,
    ),
  ]
}

async function findTlsIssues(database: Database, { databaseUrl }: Settings): Promise<Finding[]> {
  if (databaseUrl === null) return []
  const [row] = await database.query<{ isPlain: boolean }>(
    `select not coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false)
       and not coalesce(inet_client_addr() <<= '127.0.0.0/8' or inet_client_addr() = '::1', true) as "isPlain"`,
    [],
  )
  return row!.isPlain
    ? [warning('DATABASE_URL: the connection is not encrypted: add sslmode=verify-full, or require')]
    : []
}

function findUrlIssues({ production, publicUrl }: Settings): Finding[] {
  const { protocol, hostname } = new URL(publicUrl)
  if (!production) return []
  if (/^(localhost|127\.|\[::1\]|0\.0\.0\.0)/.test(hostname)) {
    return [
      warning(
        `PUBLIC_URL: ${publicUrl} is reached by this machine only: give the address that shoppers have`,
      ),
    ]
  }
  return protocol === 'https:'
    ? []
    : [
        warning(
          `PUBLIC_URL: ${publicUrl} is not https: shops do not load our script, and providers refuse it`,
        ),
      ]
}

async function findDiskIssues({ dataDir }: Settings): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(dataDir)
  const free = bavail * bsize
  return free >= leastFreeBytes
    ? []
    : [warning(`DATA_DIR: ${dataDir} has ${Math.round(free / 1024 ** 2)} MiB left: make room`)]
}

const name = 'secret-key'
const purpose = 'secret-key-check'
export const otherSecretKey =
  'SECRET_KEY: is another one than this database was used with, so stored credentials would not open: set the earlier one, or ' +
  'SECRET_KEY_PREVIOUS to it. If it is lost: npm run doctor -- --accept-secret-key, then connect all providers again'

async function hasOtherSecretKey(database: Database, settings: Settings): Promise<boolean> {
  const [row] = await database.query<{ value: string }>('select value from server_settings where name = $1', [
    name,
  ])
  return row !== undefined && !hasValidSignature(settings, purpose, name, row.value)
}

/** Notes which secret key the database is used with. The note lets nobody compute the key. */
export async function acceptSecretKey(database: Database, settings: Settings): Promise<void> {
  const value = JSON.stringify(sign(settings, purpose, name))
  await database.query(
    `insert into server_settings (name, value) values ($1, $2::jsonb)
     on conflict (name) do update set value = excluded.value where server_settings.value <> excluded.value`,
    [name, value],
  )
}

/** Whether the secret key is the one of the database; notes it if it is. */
export async function checkSecretKey(database: Database, settings: Settings): Promise<boolean> {
  if (await hasOtherSecretKey(database, settings)) return false
  await acceptSecretKey(database, settings)
  return true
}
