/** Review requests at many moments: the hour determines the orders, and who writes to the inbox. */

import { expect, test } from 'vitest'
import { dayMs, hourMs, minuteMs } from '#runtime/durations'
import { makeOrders } from '#scripts/seed/orders'
import { Random } from '#scripts/seed/random'
import { planDispatches } from '#scripts/seed/review-plan'
import { planAurora } from '#scripts/seed/shop'
import { Timeline } from '#scripts/seed/timeline'

const moments = [
  // People of the inbox had so many orders that too few were left for others.
  new Date('2026-11-26T23:01:40.000Z'),
  ...Array.from(
    { length: 9 },
    (_, index) => new Date(Date.UTC(2026, 10, 27, 3) + index * (41 * dayMs + 5 * hourMs + 23 * minuteMs)),
  ),
]

test.for(moments)(
  'at %s: 110 of 300 requests are reviewed, with and without buyers known from the inbox',
  (now) => {
    const timeline = new Timeline(now, 'America/Sao_Paulo')
    const { plans, customers, catalog, random } = planAurora({ timeline, pictures: '/sandbox/pictures' })
    const shop = { domain: 'aurora.example', country: 'BR', products: catalog.products, firstId: 9001 }
    const orders = makeOrders(plans, shop, timeline, random).filter(({ currency }) => currency === 'BRL')
    const phones = new Set(orders.map(({ customer }) => customer.phone))
    const buyers = customers.filter(({ phone }) => phones.has(phone))
    for (let turn = 0; turn < 20; turn += 1) {
      const contacts = new Set(
        new Random(`people ${turn}`)
          .shuffled(buyers)
          .slice(0, 40)
          .map(({ phone }) => phone),
      )
      const planned = planDispatches(orders, contacts, timeline, new Random(`reviews ${turn}`))
      const left = planned.filter(({ message }) => message !== null)
      expect([left.length, left.filter(({ status }) => status === 'reviewed').length]).toEqual([300, 110])
    }
  },
)
