/** English stop words, compounds and synonyms for all sections; a section's own synonyms are in its `section.ts`. */

export const stopWords = new Set(
  (
    'a about after already also am an and any anything are as at away be because been before being by can could did do does ' +
    'doing done dont every everybody everyone everything for from get gets getting go goes going had has have having hello help ' +
    'here hi how i if im in into is isnt it its ive just know let lets like make many may me might more much must my ' +
    'need no not of off ok on one onto or our ours out over please put really right set shall should show site so some somebody ' +
    'someone something soon still tell than thank thanks that the their them themselves then there these they thing things this ' +
    'those through to too under until up upon us use used using very want wants was way we website were what whats when where which ' +
    'while whom whos whose will with within would yet you your yours'
  ).split(' '),
)

/** Compounds: several words indexed as one term. */
export const compounds = (
  'pop up:popup, sign up:signup, signed up:signup, signs up:signup, signing up:signup, opt out:optout, opted out:optout, ' +
  'opts out:optout, opt outs:optout, log out:logout, logged out:logout, logs out:logout, log in:login, sold out:soldout, best seller:bestseller, ' +
  'best sellers:bestseller, best selling:bestseller, time zone:timezone, e mail:email, e mails:email, check out:checkout, ' +
  'whats app:whatsapp, say no:reject, says no:reject, say yes:approve, carry on:resume, go on:resume, front page:homepage, ' +
  'home page:homepage, how many:howmany, how much:howmany, how often:howmany, start page:homepage, hand over:assign, look up:find, look at:see, looks like:like, look like:like, right away:now, can you do:ability, throw in:add, throws in:add, write back:reply, text back:reply, get back:reply, ' +
  'open api:openapi, swagger file:openapi, good shape:health, bad shape:health, try out:test'
)
  .split(', ')
  .map((each) => each.split(':') as [string, string])

/** The words of a line are synonyms of each other. */
export const synonyms: readonly string[] = [
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
