/** The popup and the contact form as the demo has them: settings, what was shown, what was sent. */
import type { RootDatabase } from '#db/database'
import { defaultForm } from '#operations/capture/contact-form/form-rules'
import { defaultPopup } from '#operations/capture/popup/defaults'
import { publication } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { namedId } from '#runtime/values/ids'
import type { Subscriber } from './capture.ts'
import type { DemoList } from './lists.ts'
import { american, brazilian } from './people.ts'
import { demoPrizes } from './popup-prizes.ts'
import { Random } from './random.ts'
import { insertRows, type SeedRow } from './rows.ts'
import type { DemoStore } from './store.ts'
import { dayMs, minuteMs } from './timeline.ts'

const daysShown = 90
const pushedAtMost = 120

/** Popup on with its roulette, 90 days of impressions, the form with 24 submissions, 120 subscribers pushed. */
export async function seedAuroraPopup(
  db: RootDatabase,
  store: DemoStore,
  subscribers: readonly Subscriber[],
  vip: DemoList,
): Promise<void> {
  const since = store.timeline.ago(daysShown + 0.5)
  const popup = {
    ...defaultPopup,
    isEnabled: true,
    texts: {
      title: 'Gire e ganhe',
      description: 'Um prêmio na primeira compra.',
      emailPlaceholder: 'Seu e-mail',
      phonePlaceholder: 'Seu WhatsApp',
      namePlaceholder: 'Seu nome',
      buttonText: 'Quero receber',
      consentText: 'Quero receber novidades e ofertas por e-mail e mensagem.',
      successTitle: 'Parabéns!',
      successMessage: 'Seu prêmio já vale na primeira compra.',
      alreadySubscribedMessage: 'Você já está na nossa lista.',
      errorMessage: 'Algo deu errado. Tente de novo.',
      closeText: 'Não, obrigado',
      spinText: 'Girar',
    },
    display: { ...defaultPopup.display, teaserEnabled: true, teaserText: 'Ganhe um prêmio' },
    fields: { ...defaultPopup.fields, phone: { enabled: true, required: false } },
    couponDelivery: 'both' as const,
    roulette: { enabled: true, prizes: [...demoPrizes] },
    isMailproviderEnabled: true,
  }
  await insertRows(db, 'newsletter_settings', store.id, [
    { settings: popup, revision: 1, enabled_at: since, created_at: since, updated_at: since },
  ])
  const won = (prizeId: string): number => subscribers.filter((each) => each.prize_id === prizeId).length
  const limited = demoPrizes.filter((prize) => prize.stock !== null)
  await insertRows(
    db,
    'newsletter_prizes',
    store.id,
    limited.map(({ id }) => ({ id, taken: won(id) })),
  )
  await insertRows(db, 'widget_daily', store.id, impressions(store, subscribers))
  await markPushed(db, store, subscribers)
  const labels: Record<string, string> = {
    name: 'Nome',
    email: 'E-mail',
    phone: 'Telefone',
    message: 'Mensagem',
  }
  const form = {
    ...defaultForm,
    isEnabled: true,
    title: 'Fale com a Aurora',
    description: 'Respondemos em um dia útil.',
    fields: defaultForm.fields.map((field) => ({ ...field, label: labels[field.key] ?? field.label })),
    buttonText: 'Enviar',
    successMessage: 'Obrigado! Já respondemos.',
    errorMessage: 'Algo deu errado. Tente de novo.',
    consentText: 'Quero receber novidades e ofertas da Aurora.',
    crmListId: vip.id,
  }
  await insertRows(db, 'contact_form_settings', store.id, [formRow(form, since)])
  await insertRows(db, 'contact_form_submissions', store.id, auroraSubmissions(store, vip))
}

/** One submission; the popup was never saved. */
export async function seedBorealisForm(db: RootDatabase, store: DemoStore): Promise<void> {
  const since = store.timeline.ago(40)
  await insertRows(db, 'contact_form_settings', store.id, [
    formRow({ ...defaultForm, isEnabled: true }, since),
  ])
  const person = american(new Random('borealis form'), 6151)
  await insertRows(db, 'contact_form_submissions', store.id, [
    submission(store, { ...person, phone: null }, store.timeline.ago(9.3), 'Do you ship to Canada?', null),
  ])
}

/** The loader is on the platform since the popup was first shown, and was asked for a moment ago. */
export async function seedLoader(ctx: Context, store: DemoStore): Promise<void> {
  await publication.install(ctx)
  await ctx.db
    .updateTable('storefront_scripts')
    .set({ installed_at: store.timeline.ago(daysShown + 0.5), last_seen_at: store.timeline.ago(0.01) })
    .execute()
}

const formRow = (settings: object, at: Date): SeedRow<'contact_form_settings'> => ({
  settings,
  revision: 1,
  created_at: at,
  updated_at: at,
})

/** More at weekends; never fewer than subscribed. */
function impressions(store: DemoStore, subscribers: readonly Subscriber[]): SeedRow<'widget_daily'>[] {
  const random = new Random('aurora impressions')
  const { timeline } = store
  const dayOf = (at: Date): string => new Intl.DateTimeFormat('en-CA', { timeZone: timeline.zone }).format(at)
  const subscribed = Map.groupBy(subscribers, ({ created_at }) => dayOf(created_at))
  return Array.from({ length: daysShown + 1 }, (_, back) => {
    const noon = timeline.localTime(back, 12)
    const day = dayOf(noon)
    const usual = timeline.isWeekend(noon) ? random.whole(110, 190) : random.whole(55, 115)
    const shown = Math.max(usual, subscribed.get(day)?.length ?? 0)
    return {
      widget: 'newsletter',
      resource_id: '',
      day,
      impressions: shown,
      clicks: 0,
      closes: Math.floor(shown * 0.7),
      cart_adds: 0,
      visitors: Math.max(1, Math.floor(shown * random.between(0.75, 0.95))),
    }
  })
}

/** The first 120 who were subscribed then; the provider has them too. */
async function markPushed(
  db: RootDatabase,
  store: DemoStore,
  subscribers: readonly Subscriber[],
): Promise<void> {
  const pushed = subscribers.filter((each) => each.status === 'subscribed').slice(0, pushedAtMost)
  const at = store.timeline.ago(0.4)
  await db
    .updateTable('newsletter_subscribers')
    .set({ mailprovider_status: 'added', mailprovider_synced_at: at, pushed_revision: 1 })
    .where('store_id', '=', store.id)
    .where(
      'id',
      'in',
      pushed.map((each) => each.id),
    )
    .execute()
  await db
    .insertInto('sandbox_objects')
    .values(
      pushed.map(({ email, name, phone }) => ({
        store_id: store.id,
        kind: 'mailing-list-member',
        id: email!.toLowerCase(),
        data: JSON.stringify({ email, name, phone, tags: [] }),
        updated_at: at,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

const questions = [
  'Vocês entregam em Recife?',
  'Quanto tempo leva a entrega para Manaus?',
  'A manta de algodão volta ao estoque?',
  'Posso trocar o tamanho do avental?',
  'Vocês fazem embalagem para presente?',
  'Aceitam pagamento por Pix?',
]

/** Twenty-four over sixty days: six of the VIP list, the others without a phone. */
function auroraSubmissions(store: DemoStore, vip: DemoList): SeedRow<'contact_form_submissions'>[] {
  const random = new Random('aurora form')
  return Array.from({ length: 24 }, (_, index) => {
    const at = new Date(store.timeline.ago(59 - index * 2.45).getTime() + random.between(0, 300) * minuteMs)
    const contact = index % 4 === 0 ? vip.contacts[index / 4]! : null
    const { name, email } = brazilian(random, 6201 + index)
    const sender = contact
      ? { name: contact.name ?? name, email: contact.email ?? email, phone: contact.phone }
      : { name, email, phone: null }
    return submission(store, sender, store.timeline.notAfterNow(at), random.pick(questions), vip, contact?.id)
  })
}

function submission(
  store: DemoStore,
  sender: { name: string; email: string; phone: string | null },
  at: Date,
  message: string,
  list: DemoList | null,
  contactId: string | null = null,
): SeedRow<'contact_form_submissions'> {
  return {
    id: namedId(`submission ${store.slug} ${sender.email} ${Math.floor(at.getTime() / dayMs)}`, at.getTime()),
    ...sender,
    message,
    values: {},
    page_url: `https://${store.domain}/contact`,
    crm_list_id: list?.id ?? null,
    crm_status: list === null ? null : contactId === null ? 'no-phone' : 'already-in-list',
    contact_id: contactId,
    created_at: at,
  }
}
