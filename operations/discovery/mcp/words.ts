/** English words: what tells nothing, what is cut off, and what means the like of what wherever it stands. */

export const stopWords = new Set(
  (
    'a about after already also am an and any anything are as at away be because been before being by can could did do does ' +
    'doing done dont every everybody everyone everything for from get gets getting go goes going had has have having hello help ' +
    'here hi how i if im in into is isnt it its ive just know let lets like look make many may me might more much must my ' +
    'need no not of off ok on one onto or our ours out over please put really right set shall should show site so some somebody ' +
    'someone something soon still tell than thank thanks that the their them themselves then there these they thing things this ' +
    'those through to too under until up upon us use used using very want wants was way we website were what whats when where which ' +
    'while whom whos whose will with within would yet you your yours'
  ).split(' '),
)

/** Two words that are read as one, and what it is. */
const joined = new Map(
  (
    'pop up:popup, sign up:signup, signed up:signup, signs up:signup, signing up:signup, opt out:optout, opted out:optout, ' +
    'opts out:optout, opt outs:optout, log out:logout, logged out:logout, logs out:logout, log in:login, sold out:soldout, best seller:bestseller, ' +
    'best sellers:bestseller, best selling:bestseller, time zone:timezone, e mail:email, e mails:email, check out:checkout, ' +
    'whats app:whatsapp, say no:reject, says no:reject, say yes:approve, carry on:resume, go on:resume, front page:homepage, ' +
    'home page:homepage, how many:howmany, how much:howmany, how often:howmany, start page:homepage, hand over:assign, look up:find, throw in:add, throws in:add, write back:reply, text back:reply, get back:reply, ' +
    'open api:openapi, swagger file:openapi, good shape:health, bad shape:health, try out:test'
  )
    .split(', ')
    .map((each) => each.split(':') as [string, string]),
)
export const joinedOf = (first: string, second: string | undefined): string | undefined =>
  second === undefined ? undefined : joined.get(`${first} ${second}`)

/** Cuts English endings, so that "sending", "sends" and "send" are one word. */
export function stem(word: string): string {
  const known = irregular.get(word)
  if (known) return known
  if (word.length <= 3) return word
  for (const [ending, instead] of endings) {
    if (!word.endsWith(ending) || word.length - ending.length < 3) continue
    if (ending === 's' && word.endsWith('ss')) continue
    const cut = word.slice(0, -ending.length) + instead
    return /([bdfgmnprt])\1$/.test(cut) && ending !== 's' && cut.length > 3 ? cut.slice(0, -1) : cut
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
  ['sses', 'ss'],
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

/** Each form before what it is a form of; what stands alone only keeps its ending, which another word would share. */
const irregular = new Map(
  (
    'sold:sell sent:send bought:buy paid:pay left:leav wrote:writ written:writ came:com spent:spend people:person gave:giv ' +
    'given:giv took:tak taken:tak made:mak told:tell saw:see seen:see shown:show ran:run began:begin won:win lost:los chose:choos ' +
    'chosen:choos forgot:forget forgotten:forget kept:keep threw:throw thrown:throw went:go gone:go said:say hid:hid hidden:hid ' +
    'women:woman men:man children:child quit:quit swapped:swap swapping:swap signups:signup optouts:optout bestsellers:bestseller ' +
    'emails:email adding:add added:add cancelled:cancel cancelling:cancel cancellation:cancel notify:notific notifies:notific ' +
    'notified:notific active:activat activation:activat subscription subscriptions:subscription ' +
    'news offer offers:offer comment comments:comment moment option options:option question questions:question ' +
    'conversion conversions:conversion converts:conversion convert:conversion conversation conversations:conversation ' +
    'number numbers:number banner banners:banner counter counters:counter timer sticker stickers:sticker letter matter ' +
    'section sections:section session sessions:session action actions:action station version versions:version ' +
    'status address addresses:address business never ever paper later'
  )
    .split(' ')
    .map((each) => each.split(':') as [string, string?])
    .map(([word, of]): [string, string] => [word, of ?? word]),
)

/** Each line is a set of words that mean the like in every trade. */
export const alikeEverywhere: readonly string[] = [
  'create add new build start open',
  'update change edit modify adjust rewrite correct fix replace another different',
  'rename name',
  'delete remove erase drop discard clear throw',
  'cancel stop end terminate',
  'pause stop hold halt suspend',
  'resume continue restart reactivate carry',
  'activate enable',
  'deactivate disable',
  'export download csv spreadsheet file excel sheet',
  'import upload load bring csv spreadsheet excel',
  'image picture photo logo',
  'setting configure option preference customise customize configuration',
  'order reorder sort arrange position',
  'approve accept publish allow',
  'reject refuse deny decline',
  'schedule later plan date tomorrow',
  'duplicate copy clone',
  'failed failure error problem wrong why',
  'statistics metric report analytic figure performance result',
  'top best most highest popular',
  'howmany metric count rate',
  'usage quota limit remaining left consumption allowance',
  'assign delegate hand transfer',
  'health quality condition shape',
  'reply answer respond',
  'notification alert notice',
  'status state standing',
  'connect link pair scan login setup hook',
  'disconnect unlink unpair logout part',
  'test try',
  'retry again',
  'preview look before',
  'sync refresh pull',
  'bulk batch',
  'home front start',
  'help can',
]
