/** Settings from the environment, checked at start: every fault is listed at once. */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { silenceMs, usualDeadlines } from '#db/deadlines'
import { isAddress } from '#db/postgres/address'
import { mailUrl } from '#runtime/ports/mail/providers'
import { mailingListUrl } from '#runtime/ports/mailing-list/providers'
import { readWhatsappUrl } from '#runtime/ports/messaging/whatsapp/options'
import { z } from '#runtime/schema'
import { makeDataDir } from './data-dir.ts'
import { whyNotWritten } from './sentences.ts'

const whole = (fallback: number, min = 0) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .default(String(fallback))
    .transform(Number)
    .refine((value) => value >= min, `must be at least ${min}`)
const switchOf = (fallback: 'on' | 'off') =>
  z
    .enum(['on', 'off'], { errorMap: () => ({ message: 'must be on or off' }) })
    .default(fallback)
    .transform((value) => value === 'on')

const usualDataDir = './data'

const environment = z.object({
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must begin with postgres://')
    .refine(isAddress, 'must be an address such as postgres://user:password@host:5432/database')
    .optional(),
  DATABASE_READS: whole(3, 1),
  DATABASE_TRANSACTIONS: whole(10, 1),
  DATABASE_POOLER: switchOf('off'),
  DATA_DIR: z.string().default(usualDataDir),
  HOST: z.string().default('127.0.0.1'),
  PORT: whole(3000).refine((value) => value <= 65_535, 'must be at most 65535'),
  PUBLIC_URL: z.string().url('must be an address such as https://api.example.com').optional(),
  WORKER: switchOf('on'),
  TRUST_PROXY: whole(0),
  RATE_LIMIT_STORE: whole(120, 1),
  RATE_LIMIT_IP: whole(300, 1),
  STOREFRONT_READS_IP: whole(300, 1),
  STOREFRONT_WRITES_IP: whole(10, 1),
  STOREFRONT_ACCEPTED_IP: whole(20, 1),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  NODE_ENV: z.string().default('development'),
  SANDBOX: z
    .enum(['on', 'off', 'insist'], { errorMap: () => ({ message: 'must be on, off or insist' }) })
    .optional(),
  SECRET_KEY: z.string().min(32, 'must have at least 32 characters').optional(),
  SECRET_KEY_PREVIOUS: z.string().min(32, 'must have at least 32 characters').optional(),
  MAIL_URL: mailUrl.default('sandbox'),
  MAIL_FROM: z.string().default('Merchant platform <no-reply@localhost>'),
  STORAGE_URL: z
    .string()
    .regex(/^(s3:\/\/.+|disk)$/, 'must begin with s3://')
    .default('disk'),
  ECOMMERCE_URL: z
    .string()
    .regex(
      /^(shopify:\/\/([^/@:]+:[^/@:]+@)?[a-z0-9.-]+(:\d+)?\/?|sandbox)$/,
      'must be shopify://myshopify.com, or shopify://CLIENT_ID:CLIENT_SECRET@myshopify.com',
    )
    .default('sandbox'),
  BILLING_URL: z
    .string()
    .regex(/^(mercadopago:\/\/.+|sandbox)$/, 'must begin with mercadopago://')
    .default('sandbox'),
  BILLING_COUPONS: z.string().optional(),
  MESSAGING_URL: z
    .string()
    .regex(/^(whatsapp:\/\/.+|sandbox)$/, 'must begin with whatsapp://')
    .default('sandbox'),
  MAILING_LIST_URL: mailingListUrl.default('sandbox'),
  SANDBOX_MESSAGES_PER_SECOND: whole(500, 1),
  MESSAGING_APP_SECRET: z.string().optional(),
  MESSAGING_VERIFY_TOKEN: z.string().optional(),
  CHAT_AGENT_REQUESTS: whole(1000, 1),
  KEY_LEASE_MS: whole(500, 1),
  REQUEST_TIMEOUT_MS: whole(usualDeadlines.requestMs, 100),
  STATEMENT_TIMEOUT_MS: whole(usualDeadlines.statementMs, 50),
})

export interface Settings {
  databaseUrl: string | null
  databaseReads: number
  databaseTransactions: number
  /** Between this server and PostgreSQL is a pooler of connections. */
  databasePooler: boolean
  dataDir: string
  host: string
  port: number
  /** Base of the links it hands out; without a slash at its end. */
  publicUrl: string
  worker: boolean
  trustProxy: number
  rateLimitStore: number
  rateLimitIp: number
  storefrontReadsIp: number
  storefrontWritesIp: number
  storefrontAcceptedIp: number
  logLevel: string
  production: boolean
  sandbox: boolean
  /** The sandbox is on although others may reach it. */
  sandboxInsisted: boolean
  secretKey: string
  /** Opens what it sealed and verifies what it signed, for as long as it is set. */
  previousSecretKey: string | null
  mailUrl: string
  mailFrom: string
  storageUrl: string
  ecommerceUrl: string
  billingUrl: string
  /** A file with the coupons of a provider that keeps none, or null. */
  billingCoupons: string | null
  messagingUrl: string
  mailingListUrl: string
  /** What new connections are made with, by its name among the adapters. */
  messagingProvider: 'sandbox' | 'whatsapp'
  sandboxMessagesPerSecond: number
  messagingAppSecret: string | null
  /** What the provider must name before it may call back; null: it may not. */
  messagingVerifyToken: string | null
  /** Requests to the assistant that a store has in a message cycle. */
  chatAgentRequests: number
  /** How long an instance may act on what it last read of a key, in milliseconds. */
  keyLeaseMs: number
  /** By when a request is answered, and by when PostgreSQL ends a statement of one, in milliseconds. */
  requestTimeoutMs: number
  statementTimeoutMs: number
}

/** Thrown with every fault in its message. */
export class SettingsError extends Error {}

/** Where the embedded database and the files are. */
export const dataDirOf = (env: { DATA_DIR?: string | undefined }): string =>
  resolve(env.DATA_DIR || usualDataDir)

/** Reads the settings; makes and keeps a secret key in `DATA_DIR` where none is set outside production. */
export function readSettings(env: Record<string, string | undefined>): Settings {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  )
  const parsed = environment.safeParse(given)
  const faults = parsed.success
    ? []
    : parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
  const production = env.NODE_ENV === 'production'
  if (production && !env.SECRET_KEY)
    faults.push('SECRET_KEY: is required in production (32 characters or more)')
  faults.push(...messagingFaults(given), ...(parsed.success ? deadlineFaults(parsed.data) : []))
  if (!parsed.success || faults.length > 0) throw new SettingsError(faults.join('\n'))
  const values = parsed.data
  const dataDir = dataDirOf(values)
  return {
    databaseUrl: values.DATABASE_URL ?? null,
    databaseReads: values.DATABASE_READS,
    databaseTransactions: values.DATABASE_TRANSACTIONS,
    databasePooler: values.DATABASE_POOLER,
    dataDir,
    host: values.HOST,
    port: values.PORT,
    publicUrl: (values.PUBLIC_URL ?? `http://${values.HOST}:${values.PORT}`).replace(/\/+$/, ''),
    worker: values.WORKER,
    trustProxy: values.TRUST_PROXY,
    rateLimitStore: values.RATE_LIMIT_STORE,
    rateLimitIp: values.RATE_LIMIT_IP,
    storefrontReadsIp: values.STOREFRONT_READS_IP,
    storefrontWritesIp: values.STOREFRONT_WRITES_IP,
    storefrontAcceptedIp: values.STOREFRONT_ACCEPTED_IP,
    logLevel: values.LOG_LEVEL,
    production,
    sandbox: values.SANDBOX === undefined ? !production : values.SANDBOX !== 'off',
    sandboxInsisted: values.SANDBOX === 'insist',
    secretKey: values.SECRET_KEY ?? keptSecret(dataDir),
    previousSecretKey: values.SECRET_KEY_PREVIOUS ?? null,
    mailUrl: values.MAIL_URL,
    mailFrom: values.MAIL_FROM,
    storageUrl: values.STORAGE_URL,
    ecommerceUrl: values.ECOMMERCE_URL,
    billingUrl: values.BILLING_URL,
    billingCoupons: values.BILLING_COUPONS ?? null,
    messagingUrl: values.MESSAGING_URL,
    mailingListUrl: values.MAILING_LIST_URL,
    messagingProvider: values.MESSAGING_URL === 'sandbox' ? 'sandbox' : 'whatsapp',
    sandboxMessagesPerSecond: values.SANDBOX_MESSAGES_PER_SECOND,
    messagingAppSecret: values.MESSAGING_APP_SECRET ?? null,
    messagingVerifyToken: values.MESSAGING_VERIFY_TOKEN ?? null,
    chatAgentRequests: values.CHAT_AGENT_REQUESTS,
    keyLeaseMs: values.KEY_LEASE_MS,
    requestTimeoutMs: values.REQUEST_TIMEOUT_MS,
    statementTimeoutMs: values.STATEMENT_TIMEOUT_MS,
  }
}

/** A statement that outlived its request would do what nobody is told of. */
function deadlineFaults(values: z.infer<typeof environment>): string[] {
  const shortest = silenceMs({ statementMs: values.STATEMENT_TIMEOUT_MS })
  return shortest < values.REQUEST_TIMEOUT_MS
    ? []
    : [`REQUEST_TIMEOUT_MS: must be more than ${shortest}, a third above STATEMENT_TIMEOUT_MS`]
}

function messagingFaults({
  MESSAGING_URL: url,
  MESSAGING_APP_SECRET: secret,
}: Record<string, string | undefined>) {
  if (!url?.startsWith('whatsapp://')) return []
  try {
    readWhatsappUrl(url, secret ?? null)
    return []
  } catch (error) {
    return [(error as Error).message]
  }
}

function keptSecret(dataDir: string): string {
  const file = join(dataDir, 'secret-key')
  try {
    makeDataDir(dataDir)
    if (!existsSync(file)) makeSecret(file)
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    const why = whyNotWritten(error, dataDir)
    throw why === null ? error : new SettingsError(why)
  }
}

function makeSecret(file: string): void {
  try {
    writeFileSync(file, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
