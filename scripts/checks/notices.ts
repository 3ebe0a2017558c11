/**
 * What a merchant is told of once is known by a key, which no clock makes another; or it is told where a row is moved
 * under its lock, which the second of two finds moved. Those places are listed here.
 */
import ts from 'typescript'
import type { Fault } from '#runtime/registry/checks'
import { calledOf, type Exception, faultsOf } from './source.ts'

const keyless = (type: string): string => `tells of ${type} without a key`
const clocked = 'makes the key of a notice out of the clock'
const moved = 'the row is moved in the same transaction, under its lock'
const finished = 'the run is ended in the same transaction, under its lock'

const places: readonly (readonly [file: string, type: string, why: string])[] = [
  ['operations/messaging/templates/moves.ts', 'template-recategorised', moved],
  ['operations/messaging/templates/moves.ts', 'template-changed', moved],
  ['operations/messaging/templates/moves.ts', 'template-removed', moved],
  ['operations/messaging/qr/events.ts', 'messaging-disconnected', moved],
  ['operations/messaging/numbers/connected.ts', 'messaging-connected', moved],
  ['operations/messaging/official/state.ts', 'official-number-issue', moved],
  ['operations/messaging/official/state.ts', 'number-quality', moved],
  ['operations/promotions/bundles/availability.ts', 'bundle-unavailable', moved],
  ['operations/promotions/platform/reconcile.ts', 'discount-refused', moved],
  ['operations/store/team/accept.ts', 'member-joined', moved],
  ['operations/inbox/notes/notes.ts', 'inbox-mention', 'a note is written once'],
  ['operations/inbox/tiers/segments.ts', 'inbox-segments-finished', finished],
  ['operations/inbox/switch/reconcile.ts', 'inbox-reconcile-finished', finished],
  ['operations/inbox/conversations/conversations.ts', 'inbox-assigned', moved],
  ['operations/inbox/switch/switch.ts', 'inbox-disabled', moved],
  ['operations/product-page/looks/health.ts', 'look-broken', moved],
  ['operations/reviews/submitting/submit.ts', 'review-pending', moved],
  ['operations/campaigns/sending/endings.ts', 'campaign-failed', moved],
  ['operations/campaigns/sending/endings.ts', 'campaign-paused', moved],
  ['operations/campaigns/sending/endings.ts', 'campaign-sent, campaign-failed', moved],
  ['operations/subscription/rows.ts', 'what is computed', moved],
]
const exceptions: readonly Exception[] = places.map(([file, type, why]) => ({
  file,
  wrong: keyless(type),
  why,
}))

export const noticeFaults = (root: string, allowed = exceptions): Promise<Fault[]> =>
  faultsOf(root, {
    layers: ['operations'],
    suspicious: /\b(?:notify|tellOwners)\(|dedupeKey/,
    exceptions: allowed,
    listedIn: 'scripts/checks/notices.ts',
    wrongOf: (node) => [...wrongsOf(node)],
  })

function* wrongsOf(node: ts.Node): Generator<{ wrong: string; remedy: string }> {
  if (ts.isPropertyAssignment(node) && node.name.getText() === 'dedupeKey') {
    if (/\b(?:clock|Date\.now)\b|\.ms\(\)/.test(node.initializer.getText())) {
      yield { wrong: clocked, remedy: 'name what happened: the same, told again later, has the same key' }
    }
  }
  if (!ts.isCallExpression(node)) return
  const called = calledOf(node)
  const notice = node.arguments[1]
  if ((called !== 'notify' && called !== 'tellOwners') || !notice || !ts.isObjectLiteralExpression(notice))
    return
  const named = (name: string) => notice.properties.find((each) => each.name?.getText() === name)
  if (named('dedupeKey') || !named('type')) return
  yield {
    wrong: keyless(typeOf(named('type')!)),
    remedy: 'give it a dedupeKey; where a row is moved under its lock, list it in scripts/checks/notices.ts',
  }
}

function typeOf(property: ts.ObjectLiteralElementLike): string {
  const texts: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node)) texts.push(node.text)
    ts.forEachChild(node, visit)
  }
  visit(property)
  return texts.join(', ') || 'what is computed'
}
