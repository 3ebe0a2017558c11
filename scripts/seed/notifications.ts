/** Notifications of the demo: who was told what, and who has read it. */
import type { RootDatabase } from '#db/database'
import { namedId } from '#runtime/values/ids'
import { insertRows } from './rows.ts'
import type { DemoStore } from './store.ts'
import { hourMs, minuteMs } from './timeline.ts'

interface DemoNotification {
  daysAgo: number
  type: string
  level: 'info' | 'success' | 'warning' | 'error'
  title: string
  message: string | null
  link?: string
  /** First names; left out: everybody. */
  only?: string[]
}

const auroraNotifications: DemoNotification[] = [
  {
    daysAgo: 0.3,
    type: 'export-ready',
    level: 'success',
    title: 'Your export of conversions is ready',
    message: 'It was sent to olivia@aurora.example.',
  },
  {
    daysAgo: 0.9,
    type: 'conversation-assigned',
    level: 'info',
    title: 'A conversation was assigned to you',
    message: 'Mariana Lima asks about an exchange.',
    link: '/inbox',
    only: ['ada'],
  },
  {
    daysAgo: 2,
    type: 'list-import-completed',
    level: 'info',
    title: 'Clientes recorrentes is up to date',
    message: '150 contacts unchanged, none added.',
    link: '/campaigns/lists',
  },
  {
    daysAgo: 4,
    type: 'campaign-paused',
    level: 'warning',
    title: 'Novidades para quem veio à feira is paused',
    message: '50 of 80 messages were sent before it was paused.',
    link: '/campaigns',
  },
  {
    daysAgo: 6,
    type: 'conversation-assigned',
    level: 'info',
    title: 'A conversation was assigned to you',
    message: 'João Carvalho asks where his order is.',
    link: '/inbox',
    only: ['ada'],
  },
  {
    daysAgo: 11,
    type: 'campaign-failed',
    level: 'error',
    title: 'Primavera na Aurora could not be sent',
    message: 'Its template spring_pause is paused at the provider. Choose another one, then send it again.',
    link: '/campaigns',
  },
  {
    daysAgo: 12,
    type: 'payment-approved',
    level: 'success',
    title: 'Your payment was approved',
    message: 'BRL 799.00 for the plan Scale.',
    link: '/subscription',
  },
  {
    daysAgo: 12.01,
    type: 'template-paused',
    level: 'warning',
    title: 'The template spring_pause was paused',
    message: 'Too many people blocked or reported it. It cannot be sent for now.',
    link: '/messaging/templates',
  },
  {
    daysAgo: 19.9,
    type: 'campaign-sent',
    level: 'success',
    title: 'Black Friday para clientes recorrentes was sent',
    message: '142 of 150 messages were sent, 5 failed, 3 were skipped.',
    link: '/campaigns',
  },
  {
    daysAgo: 24.9,
    type: 'template-rejected',
    level: 'error',
    title: 'The template flash_reject was rejected',
    message: 'The provider finds it too promotional. Change its text and send it in again.',
    link: '/messaging/templates',
  },
  {
    daysAgo: 33,
    type: 'custom',
    level: 'info',
    title: 'Stock count on Saturday',
    message: 'Orders placed on Saturday leave on Monday.',
  },
  {
    daysAgo: 44.9,
    type: 'campaign-sent',
    level: 'success',
    title: 'Obrigado pela visita à feira was sent',
    message: '76 of 80 messages were sent, 3 failed, 1 was skipped.',
    link: '/campaigns',
  },
  {
    daysAgo: 46,
    type: 'list-import-completed',
    level: 'warning',
    title: 'Feira de outubro was imported',
    message: '80 contacts were added, 3 rows could not be read.',
    link: '/campaigns/lists',
  },
  {
    daysAgo: 59,
    type: 'number-quality',
    level: 'warning',
    title: 'The quality of your number fell to yellow',
    message: 'Several people blocked it. Write to those who expect it, and less often.',
    link: '/messaging',
  },
]

/** How many of the newest for everybody Olivia has not read; Ada has read none. */
const unreadByOlivia = 5

/** 14 over 60 days, two of them for Ada alone. */
export async function seedAuroraNotifications(db: RootDatabase, store: DemoStore): Promise<void> {
  await save(db, store, auroraNotifications)
  const read = auroraNotifications.filter((each) => !each.only).slice(unreadByOlivia)
  await insertRows(
    db,
    'notification_reads',
    store.id,
    ['olivia', 'marco'].flatMap((reader) =>
      read.map((notification, index) => ({
        notification_id: idOf(store, notification),
        user_id: store.people[reader]!,
        read_at: new Date(atOf(store, notification).getTime() + (index + 1) * hourMs + minuteMs),
      })),
    ),
  )
}

export async function seedBorealisNotifications(db: RootDatabase, store: DemoStore): Promise<void> {
  await save(db, store, [
    {
      daysAgo: 8,
      type: 'export-ready',
      level: 'success',
      title: 'Your export of subscribers is ready',
      message: 'It was sent to bruno@borealis.example.',
    },
    {
      daysAgo: 30,
      type: 'official-number-disconnected',
      level: 'warning',
      title: 'Your official number was disconnected',
      message: 'Messages leave through the shared number now.',
    },
  ])
}

const save = (db: RootDatabase, store: DemoStore, notifications: DemoNotification[]): Promise<number> =>
  insertRows(
    db,
    'notifications',
    store.id,
    notifications.map((notification) => ({
      id: idOf(store, notification),
      type: notification.type,
      level: notification.level,
      title: notification.title,
      message: notification.message,
      link: notification.link ?? null,
      data: null,
      source: 'system',
      created_by: null,
      recipient_ids: notification.only?.map((name) => store.people[name]!) ?? null,
      dedupe_key: null,
      created_at: atOf(store, notification),
      updated_at: atOf(store, notification),
    })),
  )

const atOf = (store: DemoStore, { daysAgo }: DemoNotification): Date => store.timeline.ago(daysAgo)
const idOf = (store: DemoStore, notification: DemoNotification): string =>
  namedId(
    `notification ${store.slug} ${notification.title} ${notification.daysAgo}`,
    atOf(store, notification).getTime(),
  )
