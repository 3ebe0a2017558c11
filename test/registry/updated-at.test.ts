/**
 * `updatedAt` moves with every visible change: whoever asks what changed since gets it. Every statement that changes a
 * row with that column sets it, or stands here with why nobody sees what it changes.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** By table and columns, so that a new column of such a statement is looked at anew. */
const unseen: Record<string, string> = {
  'connections: settings': 'How far a walk came, beside what the merchant set',
  'automation_executions: reservation_id': 'Its unit',
  'automations: executing_job_id, executing_left': 'The run that is under way',
  'automations: executing_left': 'The run that is under way',
  'automations: scan_cursor': 'How far a walk came',
  'automations: flow_version': 'With the change of its flow, which sets it',
  'campaigns: deleted_at': 'Gone from every read',
  'campaigns: reservation_id': 'Its units',
  'campaigns: estimated_finish_at': 'With the move that foretells it, which sets it',
  'lane: ': 'In hand, or looked at sooner: the engine of the outbox names columns by the lane',
  'newsletter_subscribers: coupon_email': 'Whether a mail is due',
  'newsletter_subscribers: push_claim, push_claimed_at': 'In hand',
  'inbox_quick_replies: last_used_at, usage_count': 'Counts by itself: it orders the list',
  'inbox_settings: last_inbound_at': 'How the number fares, read without a time',
  'inbox_settings: is_cut_off': 'How the number fares, read without a time',
  'conversations: message_count': 'Of a conversation that is made in this transaction',
  'conversations: last_message_at, last_message_direction, last_message_id, last_message_preview, last_message_status, last_message_type':
    'After the statement that counts the message, which sets it',
  'direct_messages: request_key': 'Who asked for it',
  'messaging_connections: session_claimed_at': 'In hand',
  'message_templates: synced_at': 'When the provider was asked',
  'home_video_sliders: clicks, impressions': 'Counts by itself',
  'looks: checked_at, health': 'How the platform has its products',
  'looks: health': 'How the platform has its products, when it is made',
  'discounts: is_unavailable': 'How the platform has its products',
  'table: ': 'Counters of the storefront: they count by themselves',
  'discounts: revision, sync_error, sync_status': 'How the platform has it',
  'discounts: sync_error, sync_status': 'How the platform has it',
  'discounts: currency, discount_total, usage_count': 'Counts by itself',
  'review_settings: scanned_to': 'How far a walk came',
  'stock_alert_settings: webhook_connection_at, webhook_registered_at': 'How the platform has it',
  'files: uploaded_at': 'Has no read of its own',
  'files: expires_at': 'Has no read of its own',
  'files: size, uploaded_at, url': 'Has no read of its own',
  'subscriptions: followed_at': 'Up to when the provider has been asked',
  'stores: onboarding': 'It has a time of its own, inside',
  'stores: storefront_revision': 'What caches go by',
}
/** What is written is put together before: its file sets it there. */
const prepared = /\.set\(\{?\s*(?:\.\.\.)?(?:columns|facts|values)\b/

async function tablesWithTime(): Promise<Set<string>> {
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

/** The names that a `.set(…)` writes, from the outermost object of its argument. */
function columnsOf(statement: string): string[] {
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

test('every statement that changes a row with a time of change sets it, or says why not', async () => {
  const timed = await tablesWithTime()
  expect(timed.size).toBeGreaterThan(60)
  const found = new Map<string, string[]>()
  let looked = 0
  for (const file of await readdir(join(root, 'operations'), { recursive: true })) {
    if (!file.endsWith('.ts')) continue
    const code = await readFile(join(root, 'operations', file), 'utf8')
    for (const match of code.matchAll(
      /updateTable\('(\w+)(?: as \w+)?'\)|\bchanging\(\w+, (lane)\)|updateTable\(([\w.]+)\)/g,
    )) {
      // Where the table is a variable, all are looked at.
      const table = match[1] ?? match[2] ?? match[3]!
      if (match[1] && !timed.has(table)) continue
      looked += 1
      const rest = code.slice(match.index + match[0].length)
      const statement = rest.slice(0, rest.search(/\.execute\w*\(|\n\n/))
      if (/\bupdated_at\b/.test(statement)) continue
      if (prepared.test(statement) || /\.\.\.columnsOf\(/.test(statement)) {
        expect(code, file).toMatch(/\bupdated_at\b/)
        continue
      }
      const what = `${table}: ${columnsOf(statement).join(', ')}`
      found.set(what, [...(found.get(what) ?? []), file])
    }
  }
  expect(looked).toBeGreaterThan(150)
  const faults = [...found].filter(([what]) => !(what in unseen))
  expect(faults).toEqual([])
  // A reason for what is there no more goes.
  expect(Object.keys(unseen).filter((what) => !found.has(what))).toEqual([])
})
