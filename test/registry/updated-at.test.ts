/**
 * `updatedAt` moves with every visible change, so that `updatedSince` finds it. Every statement that updates a row
 * with this column sets it, or is exempt here because its change is invisible.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** Keyed by table and columns, so that a new column in an exempt statement is reported. */
const invisibleChanges: Record<string, string> = {
  'connections: settings': 'Position of a scan; the merchant did not set it',
  'automation_executions: reservation_id': 'Its quota unit',
  'automations: executing_job_id, executing_left': 'State of the current run',
  'automations: executing_left': 'State of the current run',
  'automations: scan_cursor': 'Position of a scan',
  'automations: flow_version': 'With the change of its flow, which sets it',
  'campaigns: deleted_at': 'Removed from every read',
  'campaigns: reservation_id': 'Its quota units',
  'campaigns: estimated_finish_at': 'Written with the transition, which sets it',
  'source: ': 'Claims and retry times: the outbox takes column names from its source',
  'newsletter_subscribers: coupon_email': 'State of a pending mail',
  'newsletter_subscribers: push_claim, push_claimed_at': 'Claim',
  'inbox_quick_replies: last_used_at, usage_count': 'A counter; it orders the list',
  'inbox_settings: last_inbound_at': 'Connection state, read without a time',
  'inbox_settings: is_cut_off': 'Connection state, read without a time',
  'conversations: message_count': 'The conversation is created in this transaction',
  'conversations: last_message_at, last_message_direction, last_message_id, last_message_preview, last_message_status, last_message_type':
    'After the statement that counts the message, which sets it',
  'direct_messages: request_key': 'Idempotency key of the request',
  'messaging_connections: session_claimed_at': 'Claim',
  'message_templates: synced_at': 'Time of the last sync',
  'home_video_sliders: clicks, impressions': 'Counters',
  'looks: checked_at, health': 'State of the products on the platform',
  'looks: health': 'State of the products on the platform, set on creation',
  'discounts: is_unavailable': 'State of the products on the platform',
  'table: ': 'Counters of the storefront',
  'discounts: revision, sync_error, sync_status': 'Sync state with the platform',
  'discounts: sync_error, sync_status': 'Sync state with the platform',
  'discounts: currency, discount_total, usage_count': 'Counters',
  'review_settings: scanned_to': 'Position of a scan',
  'stock_alert_settings: webhook_connection_at, webhook_registered_at': 'Webhook state on the platform',
  'files: uploaded_at': 'Has no read of its own',
  'files: expires_at': 'Has no read of its own',
  'files: size, uploaded_at, url': 'Has no read of its own',
  'subscriptions: followed_at': 'Time of the last provider poll',
  'stores: onboarding': 'It contains its own time',
  'stores: storefront_revision': 'Cache key',
}
/** The columns are built before the statement: the file must set `updated_at` there. */
const preparedColumns = /\.set\(\{?\s*(?:\.\.\.)?(?:columns|facts|values)\b/

async function findTimedTables(): Promise<Set<string>> {
  const files = [
    'db/tables.ts',
    ...(await readdir(join(root, 'db/tables'))).map((file) => `db/tables/${file}`),
  ]
  const text = (await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')))).join('\n')
  const timed = new Set(
    [...text.matchAll(/interface (\w+) \{(.*?)\n\}/gs)].flatMap(([, name, body]) =>
      /\n {2}updated_at: /.test(body!) ? [name!] : [],
    ),
  )
  return new Set(
    [...text.matchAll(/^ {2}(\w+): (\w+)$/gm)].flatMap(([, table, name]) =>
      timed.has(name!) ? [table!] : [],
    ),
  )
}

/** Column names in the outermost object of a `.set(…)` argument. */
function findColumns(statement: string): string[] {
  const from = statement.indexOf('.set(')
  const names = new Set<string>()
  let depth = 0
  for (let at = statement.indexOf('{', from); at < statement.length; at += 1) {
    const char = statement[at]!
    if ('{([`'.includes(char) && char !== '`') depth += 1
    if ('})]'.includes(char)) depth -= 1
    if (depth === 0) break
    const name = /^[\s{,]([a-z]\w*_\w+|[a-z]\w+)(?=\s*[:,}])/.exec(statement.slice(at))
    if (
      name &&
      depth === 1 &&
      /[{,\n ]/.test(char) &&
      statement
        .slice(0, at + 1)
        .trimEnd()
        .match(/[{,]$/)
    )
      names.add(name[1]!)
  }
  return [...names].sort()
}

test('every update of a row with updated_at sets it or is exempt', async () => {
  const timed = await findTimedTables()
  expect(timed.size).toBeGreaterThan(60)
  const found = new Map<string, string[]>()
  let looked = 0
  for (const file of await readdir(join(root, 'operations'), { recursive: true })) {
    if (!file.endsWith('.ts')) continue
    const code = await readFile(join(root, 'operations', file), 'utf8')
    for (const match of code.matchAll(
      /updateTable\('(\w+)(?: as \w+)?'\)|\bupdateMessages\(\w+, (source)\)|updateTable\(([\w.]+)\)/g,
    )) {
      // A variable table name is always checked.
      const table = match[1] ?? match[2] ?? match[3]!
      if (match[1] && !timed.has(table)) continue
      looked += 1
      const rest = code.slice(match.index + match[0].length)
      const statement = rest.slice(0, rest.search(/\.execute\w*\(|\n\n/))
      if (/\bupdated_at\b/.test(statement)) continue
      if (preparedColumns.test(statement) || /\.\.\.buildColumns\(/.test(statement)) {
        expect(code, file).toMatch(/\bupdated_at\b/)
        continue
      }
      const what = `${table}: ${findColumns(statement).join(', ')}`
      found.set(what, [...(found.get(what) ?? []), file])
    }
  }
  expect(looked).toBeGreaterThan(150)
  const faults = [...found].filter(([what]) => !(what in invisibleChanges))
  expect(faults).toEqual([])
  // Stale exemptions must be removed.
  expect(Object.keys(invisibleChanges).filter((what) => !found.has(what))).toEqual([])
})
