/** Reads and checks the settings from the environment at start; an error lists all issues at once. */
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describeWriteError, makeDataDir } from '#db/data-dir'
import { defaultDeadlines, toSilenceMs } from '#db/deadlines'
import { findAddressFault } from '#db/postgres/address'
import { SettingsError } from '#db/settings-error'
import { mailUrl, parseMailUrl } from '#runtime/ports/mail/providers'
import { parseS3Url } from '#runtime/ports/storage/s3'
import { operationsFolder } from '#runtime/registry/folder'
import { z } from '#runtime/schema'
import {
  type Environment,
  environment,
  findReadIssues,
  onOrOff,
  readEnvironment,
  type SettingsOf,
  settingName,
  wholeNumber,
} from './environment.ts'

const defaultDataDir = './data'
const secretKey = z.string().min(32, 'must have at least 32 characters').nullable().default(null)

const variables = {
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must begin with postgres://')
    .superRefine((text, issues) => {
      const message = findAddressFault(text)
      if (message !== null) issues.addIssue({ code: 'custom', message })
    })
    .nullable()
    .default(null),
  DATABASE_READS: wholeNumber(3, 1),
  DATABASE_TRANSACTIONS: wholeNumber(10, 1),
  /** Whether a connection pooler is between this server and PostgreSQL. */
  DATABASE_POOLER: onOrOff('off'),
  DATA_DIR: z.string().default(defaultDataDir),
  HOST: z.string().default('127.0.0.1'),
  PORT: wholeNumber(3000).refine((value) => value <= 65_535, 'must be at most 65535'),
  PUBLIC_URL: z.string().url('must be an address such as https://api.example.com').nullable().default(null),
  WORKER: onOrOff('on'),
  TRUST_PROXY: wholeNumber(0),
  RATE_LIMIT_STORE: wholeNumber(120, 1),
  RATE_LIMIT_IP: wholeNumber(300, 1),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  NODE_ENV: z
    .string()
    .refine(
      (text) => text === 'production' || !/^\s*prod/i.test(text),
      'must be production, in small letters',
    )
    .default('development'),
  SANDBOX: z
    .enum(['on', 'off', 'insist'], { errorMap: () => ({ message: 'must be on, off or insist' }) })
    .nullable()
    .default(null),
  SECRET_KEY: secretKey,
  SECRET_KEY_PREVIOUS: secretKey,
  MAIL_URL: mailUrl.default('sandbox'),
  MAIL_FROM: z.string().default('Merchant platform <no-reply@localhost>'),
  STORAGE_URL: z
    .string()
    .regex(/^(s3:\/\/.+|disk)$/, 'must begin with s3://')
    .default('disk'),
  /** How long an instance may use a cached key. */
  KEY_LEASE_MS: wholeNumber(500, 1),
  /** The deadline of a request. `STATEMENT_TIMEOUT_MS` is PostgreSQL's timeout of each of its statements. */
  REQUEST_TIMEOUT_MS: wholeNumber(defaultDeadlines.requestMs, 100),
  STATEMENT_TIMEOUT_MS: wholeNumber(defaultDeadlines.statementMs, 50),
}
type RuntimeSettings = SettingsOf<typeof variables>

const runtimeEnvironment = environment(variables, (settings) => [
  ...findKeyIssues(settings),
  ...findDeadlineIssues(settings),
  ...findAddressIssues(settings),
])

/** Includes the settings that sections add by declaration merging (`environment.ts`). */
export interface Settings
  extends Omit<RuntimeSettings, 'nodeEnv' | 'sandbox' | 'secretKeyPrevious' | 'logLevel'> {
  logLevel: string
  /** The base of the links that the server sends, without a slash at its end. */
  publicUrl: string
  production: boolean
  sandbox: boolean
  /** Whether the sandbox is on although other machines may reach it (`SANDBOX=insist`). */
  sandboxInsisted: boolean
  secretKey: string
  /** The previous key, which still decrypts and verifies data; null if none is set. */
  previousSecretKey: string | null
}

/** The folder of the embedded database and the files. */
export const resolveDataDir = (env: { DATA_DIR?: string | undefined }): string =>
  resolve(env.DATA_DIR || defaultDataDir)

/** Reads the settings; creates a secret key in `DATA_DIR` if none is set outside production. */
export async function readSettings(
  env: Record<string, string | undefined>,
  folder = operationsFolder,
): Promise<Settings> {
  const own = readEnvironment(runtimeEnvironment, env)
  const others = (await loadEnvironments(folder)).map((each) => readEnvironment(each, env))
  const issues = [own, ...others].flatMap((each) => each.issues)
  if (issues.length > 0) throw new SettingsError(issues.join('\n'))
  const { nodeEnv, sandbox, secretKeyPrevious, publicUrl, ...settings } = own.settings
  const production = nodeEnv === 'production'
  const dataDir = resolveDataDir(env)
  return Object.assign({}, ...others.map((each) => each.settings), {
    ...settings,
    dataDir,
    publicUrl: (publicUrl ?? `http://${settings.host}:${settings.port}`).replace(/\/+$/, ''),
    production,
    sandbox: sandbox === null ? !production : sandbox !== 'off',
    sandboxInsisted: sandbox === 'insist',
    secretKey: settings.secretKey ?? readOrCreateSecret(dataDir),
    previousSecretKey: secretKeyPrevious,
  })
}

/** Names of settings that are not those of their variables; a section must not declare a variable with such a name. */
const derived = ['PRODUCTION', 'SANDBOX_INSISTED', 'PREVIOUS_SECRET_KEY']

/** Loads the declarations of all sections. */
async function loadEnvironments(folder: string): Promise<Environment[]> {
  const files = readdirSync(folder)
    .map((section) => join(folder, section, 'environment.ts'))
    .filter((file) => existsSync(file))
  const environments = await Promise.all(files.map(loadEnvironment))
  const declaredBy = new Map(
    [...Object.keys(variables), ...derived].map((each) => [settingName(each), 'the runtime']),
  )
  for (const [i, { variables: names }] of environments.entries()) {
    for (const variable of Object.keys(names)) {
      const other = declaredBy.get(settingName(variable))
      if (other) {
        throw new SettingsError(
          `${variable}: ${files[i]} declares what ${other} declares: leave it to one of them`,
        )
      }
      declaredBy.set(settingName(variable), files[i]!)
    }
  }
  return environments
}

async function loadEnvironment(file: string): Promise<Environment> {
  const module: { default?: Environment } = await import(pathToFileURL(file).href)
  if (module.default?.kind === 'environment') return module.default
  throw new SettingsError(`${file}: write \`export default environment({…})\``)
}

function findKeyIssues({ nodeEnv, secretKey }: Partial<RuntimeSettings>): string[] {
  if (nodeEnv !== 'production' || secretKey !== null) return []
  return ['SECRET_KEY: is required in production (32 characters or more)']
}

function findAddressIssues({
  mailUrl: mail = 'sandbox',
  storageUrl: storage = 'disk',
}: Partial<RuntimeSettings>): string[] {
  return [
    ...findReadIssues('MAIL_URL', () => parseMailUrl(mail)),
    ...(storage === 'disk' ? [] : findReadIssues('STORAGE_URL', () => parseS3Url(storage))),
  ]
}

/** Checks that statements time out before requests do: otherwise they would run on after the request was answered. */
function findDeadlineIssues({
  statementTimeoutMs: statementMs,
  requestTimeoutMs,
}: Partial<RuntimeSettings>): string[] {
  if (statementMs === undefined || requestTimeoutMs === undefined) return []
  const shortest = toSilenceMs({ statementMs })
  return shortest < requestTimeoutMs
    ? []
    : [`REQUEST_TIMEOUT_MS: must be more than ${shortest}, a third above STATEMENT_TIMEOUT_MS`]
}

function readOrCreateSecret(dataDir: string): string {
  const file = join(dataDir, 'secret-key')
  try {
    makeDataDir(dataDir)
    if (!existsSync(file)) createSecret(file)
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    const why = describeWriteError(error, dataDir)
    throw why === null ? error : new SettingsError(why)
  }
}

function createSecret(file: string): void {
  try {
    writeFileSync(file, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    // Another process has just created the file.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
