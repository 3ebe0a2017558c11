/** Who asked Aurora to stop: chosen before the campaigns, because each of them passes over those before it. */
import type { RootDatabase } from '#db/database'
import { namedId } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import type { AuroraLists } from './lists.ts'
import { type CustomerGroups, campaignMoments } from './order-plan.ts'
import { insertRows } from './rows.ts'
import type { DemoShop } from './shop.ts'
import type { DemoStore } from './store.ts'
import { hourMs } from './timeline.ts'

export interface DemoOptOut {
  phone: string
  at: Date
  source: 'manual' | 'reply' | 'provider'
  note: string | null
  campaignId: string | null
}

interface Circumstances {
  store: DemoStore
  shop: DemoShop & { groups: CustomerGroups }
  lists: AuroraLists
  /** Ids of the campaigns that were sent. */
  campaigns: Record<'winter' | 'fair' | 'spring', string>
}

/** Eight over 120 days, five of them by reply, four of these to a campaign. */
export function chooseOptOuts({ store, shop, lists, campaigns }: Circumstances): DemoOptOut[] {
  const { timeline } = store
  const moments = campaignMoments(timeline)
  const { veterans, regulars, others, fair } = shop.groups
  const converted = new Set(
    (['spring', 'fair', 'winter'] as const).flatMap((source) =>
      shop.attributed(source).map(({ plan }) => plan.customer.phone),
    ),
  )
  const quiet = (people: { phone: string }[]) => people.filter((each) => !converted.has(each.phone))
  const customersAtFair = new Set(fair.map((each) => each.phone))
  const [manual, answeredWinter, answeredSpring] = quiet(veterans)
  const [replied, alsoAnsweredSpring] = quiet(regulars)
  const [blocked, answeredFair] = lists.fair.contacts.filter((each) => !customersAtFair.has(each.phone))

  const optOut = (
    person: { phone: string } | undefined,
    at: Date,
    source: DemoOptOut['source'],
    rest: { note?: string; campaignId?: string } = {},
  ): DemoOptOut => ({ phone: person!.phone, at, source, note: null, campaignId: null, ...rest })
  const answer = (person: { phone: string } | undefined, to: 'winter' | 'fair' | 'spring', hours: number) =>
    optOut(person, new Date(moments[to].getTime() + hours * hourMs), 'reply', { campaignId: campaigns[to] })
  return [
    optOut(manual, timeline.ago(118), 'manual', { note: 'Pediu por telefone para não receber campanhas' }),
    optOut(replied, timeline.ago(96), 'reply'),
    answer(answeredWinter, 'winter', 2),
    optOut(blocked, timeline.ago(62), 'provider'),
    answer(answeredFair, 'fair', 3),
    optOut(others[0], timeline.ago(30), 'manual', { note: 'Pedido por e-mail' }),
    answer(answeredSpring, 'spring', 1),
    answer(alsoAnsweredSpring, 'spring', 5),
  ]
}

export const seedOptOuts = (db: RootDatabase, store: DemoStore, optOuts: DemoOptOut[]): Promise<number> =>
  insertRows(
    db,
    'opt_outs',
    store.id,
    optOuts.map(({ phone, at, source, note, campaignId }) => ({
      id: namedId(`opt-out ${store.slug} ${phone}`, at.getTime()),
      phone,
      phone_key: phoneKey(phone),
      note,
      source,
      campaign_id: campaignId,
      created_at: at,
      updated_at: at,
    })),
  )

/** One, by hand. */
export const seedBorealisOptOut = (
  db: RootDatabase,
  store: DemoStore,
  person: { phone: string },
): Promise<number> =>
  seedOptOuts(db, store, [
    {
      phone: person.phone,
      at: store.timeline.ago(21),
      source: 'manual',
      note: 'Asked at the counter',
      campaignId: null,
    },
  ])
