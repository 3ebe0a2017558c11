/** The demo's orders at many moments: the plan depends on the hour and the day of seeding. */

import { expect, test } from 'vitest'
import { hourMs, minuteMs } from '#runtime/durations'
import { planAurora } from '#scripts/seed/shop'
import { Timeline } from '#scripts/seed/timeline'

const sourceTypes = {
  automation: ['cart', 'cart-coupon', 'win-back', 'post-purchase'],
  'messaging-campaign': ['spring', 'fair', 'winter'],
  newsletter: ['newsletter'],
  'stock-notification': ['stock'],
}

const moments = [
  // Automations had taken every order of the last weeks that could come from a stock alert.
  new Date('2027-12-23T02:04:12.000Z'),
  ...Array.from(
    { length: 100 },
    (_, index) => new Date(Date.UTC(2026, 10, 22, 2) + index * (91 * hourMs + 13 * minuteMs)),
  ),
]

test.for(moments)(
  'at %s: all four sources in the last 30 days, twelve of their orders in the last 7, one in the last day',
  (now) => {
    const timeline = new Timeline(now, 'America/Sao_Paulo')
    const { plans } = planAurora({ timeline, pictures: '/sandbox/pictures' })
    const attributed = plans.filter((each) => each.source !== null)
    const since = (days: number) => attributed.filter((each) => each.placedAt >= timeline.ago(days))
    const counts = Object.entries(sourceTypes).map(([type, sources]) => [
      type,
      attributed.filter((each) => sources.includes(each.source!)).length,
    ])
    expect(Object.fromEntries(counts)).toEqual({
      automation: 110,
      'messaging-campaign': 24,
      newsletter: 20,
      'stock-notification': 6,
    })
    for (const sources of Object.values(sourceTypes)) {
      expect(since(30).some((each) => sources.includes(each.source!))).toBe(true)
    }
    expect(since(7).length).toBeGreaterThanOrEqual(12)
    expect(since(1).length).toBeGreaterThanOrEqual(1)
  },
)
