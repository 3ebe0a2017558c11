/** Aurora's 25 single messages and tests of templates, all of which left. */
import type { RootDatabase } from '#db/database'
import { namedId } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import type { Customer } from './order-plan.ts'
import { Random } from './random.ts'
import { insertRows, type SeedRow } from './rows.ts'
import type { DemoStore } from './store.ts'
import { auroraTemplates } from './templates.ts'
import { minuteMs } from './timeline.ts'

const texts = [
  'Oi! O seu pedido já está separado e sai hoje à tarde.',
  'Boa tarde! A peça que você procurava chegou, quer que eu reserve?',
  'Oi, tudo bem? Conseguiu abrir o link do pagamento?',
  'O endereço está certo? O correio pediu uma confirmação.',
  'Obrigada pela visita! Qualquer dúvida, é só chamar aqui.',
]
const testPhone = '+5511940001000'
const messages = 25
const tests = 6

/** `templateIds`: by name. */
export async function seedAuroraSingles(
  db: RootDatabase,
  store: DemoStore,
  customers: readonly Customer[],
  templateIds: ReadonlyMap<string, number>,
): Promise<void> {
  const random = new Random('aurora single sends')
  const reached = random.shuffled(customers).slice(0, messages)
  const rows = Array.from({ length: messages }, (_none, i) => {
    // From a year ago to yesterday, closer together towards today.
    const daysAgo = 1.2 + 360 * ((messages - 1 - i) / messages) ** 2
    const sentAt = store.timeline.ago(daysAgo)
    return i < tests ? testRow(i, sentAt, templateIds) : textRow(i, sentAt, reached[i]!, random.pick(texts))
  }).map((row, i) => withFate(row, i))
  await insertRows(db, 'direct_messages', store.id, rows)
  await insertRows(db, 'message_ledger', store.id, rows.map(ledgerRow))
}

type SendRow = SeedRow<'direct_messages'>

function baseRow(i: number, sentAt: Date): Omit<SendRow, 'phone' | 'phone_key' | 'purpose' | 'type'> {
  const id = namedId(`aurora single send ${i}`, sentAt.getTime())
  return {
    id,
    request_key: null,
    source_id: null,
    name: null,
    text: null,
    media_url: null,
    media_file_name: null,
    officialapi_template_id: null,
    template_parameters: null,
    via: null,
    connection_type: 'official',
    status: 'sent',
    error_code: null,
    error_message: null,
    reservation_id: null,
    claimed_at: null,
    called_at: sentAt,
    may_have_left: false,
    attempts: 1,
    next_try_at: null,
    provider_message_id: `wamid.${id}`,
    sent_at: sentAt,
    delivered_at: null,
    read_at: null,
    failed_at: null,
    created_at: sentAt,
    updated_at: sentAt,
  }
}

function textRow(i: number, sentAt: Date, { name, phone }: Customer, text: string): SendRow {
  return {
    ...baseRow(i, sentAt),
    purpose: 'message',
    phone,
    phone_key: phoneKey(phone),
    name,
    type: 'text',
    text,
  }
}

/** A template with its examples, to the owner's own phone. */
function testRow(i: number, sentAt: Date, templateIds: ReadonlyMap<string, number>): SendRow {
  const { name, body, examples, buttonExamples } = auroraTemplates[i]!
  return {
    ...baseRow(i, sentAt),
    purpose: 'template-test',
    phone: testPhone,
    phone_key: phoneKey(testPhone),
    type: 'template',
    text: body.replace(/\{\{(\d+)\}\}/g, (_all, n: string) => examples[Number(n) - 1]!),
    officialapi_template_id: templateIds.get(name)!,
    template_parameters: { header: [], body: examples, buttons: buttonExamples },
    via: 'official',
  }
}

/** One did not arrive, three were never read. */
function withFate(row: SendRow, i: number): SendRow {
  const at = (minutes: number): Date => new Date((row.sent_at as Date).getTime() + minutes * minuteMs)
  if (i === 9) {
    return {
      ...row,
      status: 'failed',
      error_code: 'undelivered',
      error_message: 'The message could not be delivered',
      failed_at: at(1),
      updated_at: at(1),
    }
  }
  const delivered = { ...row, status: 'delivered', delivered_at: at(1), updated_at: at(1) }
  if (i % 8 === 7) return delivered
  return { ...delivered, status: 'read', read_at: at(4 + i), updated_at: at(4 + i) }
}

function ledgerRow(row: SendRow): SeedRow<'message_ledger'> {
  return {
    message_id: row.id,
    channel: 'messaging',
    source: 'direct',
    source_id: row.id,
    phone_key: row.phone_key,
    email: null,
    provider_message_id: row.provider_message_id ?? null,
    status: row.status,
    failure_code: row.error_code ?? null,
    sent_at: row.sent_at!,
    delivered_at: row.delivered_at ?? null,
    read_at: row.read_at ?? null,
    failed_at: row.failed_at ?? null,
  }
}
