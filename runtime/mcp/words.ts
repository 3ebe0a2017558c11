/** Words of merchants: what tells nothing, what is cut off, and what means the like of what. */

export const stopWords = new Set(
  (
    'a an and any are as at be been by can could did do does for from get had has have help how i if in into is it its ' +
    'let like list make me my need now of on one or our out please put set should show so some tell that the their them then ' +
    'there these they this to up us use want was way we what when where which will with would you your who all not one many much any every everybody something somebody no just again still more than times'
  ).split(' '),
)

/** Cuts English endings, so that "sending", "sends" and "send" are one word. */
export function stem(word: string): string {
  const known = irregular[word]
  if (known) return known
  if (word.length <= 3) return word
  for (const [ending, instead] of endings) {
    if (!word.endsWith(ending) || word.length - ending.length < 3) continue
    const cut = word.slice(0, -ending.length) + instead
    return /([bdfgmnprt])\1$/.test(cut) && ending !== 's' ? cut.slice(0, -1) : cut
  }
  return word
}

const endings: readonly [string, string][] = [
  ['ations', ''],
  ['ation', ''],
  ['ments', ''],
  ['ment', ''],
  ['ings', ''],
  ['ing', ''],
  ['ions', ''],
  ['ion', ''],
  ['ies', 'y'],
  ['ied', 'y'],
  ['ers', ''],
  ['ed', ''],
  ['er', ''],
  ['es', ''],
  ['s', ''],
  ['e', ''],
  ['ly', ''],
]

const irregular: Record<string, string> = {
  sold: 'sell',
  sent: 'send',
  bought: 'buy',
  paid: 'pay',
  left: 'leav',
  wrote: 'writ',
  written: 'writ',
  came: 'com',
  spent: 'spend',
  people: 'person',
  news: 'news',
}

/** Each line is a set of words that mean the like, in the language of shops. */
const groups = [
  'customer client shopper buyer person contact people visitor',
  'sale revenue money earn income turnover sold sell statistics',
  'order purchase bought buy',
  'cart basket checkout abandoned leave left recover unpaid',
  'message text chat whatsapp sms write',
  'conversation chat inbox thread ticket',
  'campaign blast broadcast bulk mass newsletter',
  'newsletter subscriber signup popup mailing',
  'popup roulette wheel overlay',
  'coupon discount voucher promo code',
  'promotion offer deal discount quantity',
  'bundle kit combo together pack',
  'gift freebie present free',
  'review rating star opinion feedback comment',
  'testimonial quote praise',
  'reply answer respond response',
  'stock inventory availability sold restock available',
  'exchange return refund swap',
  'ship shipping delivery freight',
  'team staff employee colleague member user agent teammate',
  'invite invitation add',
  'plan subscription billing tier pricing',
  'payment invoice bill charge receipt',
  'card credit',
  'cancel stop end terminate',
  'pause stop hold halt suspend',
  'resume continue restart reactivate',
  'delete remove erase drop',
  'create add new make start',
  'update change edit modify adjust rename',
  'export download csv spreadsheet file excel',
  'import upload load bring',
  'template preset wording approved',
  'automation flow workflow automatic trigger rule',
  'statistics metric report analytic figure number performance result',
  'dashboard overview summary home glance',
  'connect link pair scan login setup',
  'disconnect unlink unpair logout',
  'opt unsubscribe blacklist block optout stop',
  'tag label category',
  'note comment remark',
  'assign delegate hand transfer',
  'tier segment level loyalty vip',
  'sticker label stamp image ribbon',
  'badge seal trust icon',
  'size measure chart sizing fit',
  'wishlist favourite favorite saved wish heart',
  'video clip reel slider',
  'look outfit style combination',
  'banner bar strip ribbon announcement',
  'countdown timer clock hurry',
  'installment instalment parcel split monthly',
  'fomo urgency social alert proof',
  'health quality status state condition',
  'usage quota limit remaining left consumption allowance',
  'trial free test',
  'schedule later plan date tomorrow',
  'moderate approve reject publish hide',
  'notification alert bell notice',
  'form contact question inquiry enquiry lead',
  'image picture photo logo',
  'product item article catalog good',
  'setting configure option preference customise customize look appearance configuration',
  'attribution attributed source conversion caused thanks',
  'faq block content specification warranty section',
  'reorder order sort arrange position',
  'button widget bubble',
  'failed failure error problem wrong undelivered',
]

const likes = new Map<string, Set<string>>()
for (const group of groups) {
  const words = group.split(' ').map(stem)
  for (const word of words) {
    const known = likes.get(word) ?? new Set()
    for (const other of words) if (other !== word) known.add(other)
    likes.set(word, known)
  }
}

const none: ReadonlySet<string> = new Set()
/** Stems that mean the like of a stem. */
export const likesOf = (word: string): ReadonlySet<string> => likes.get(word) ?? none
