/** Makes zod measure texts as people see them: code points, and nothing if only blanks are there. */
import type { z as Zod } from 'zod/v3'
import { hasVisible } from '#runtime/values/confusables'
import { countCharacters } from '#runtime/values/truncate'

/**
 * Lengths of texts are counted in code points, as the published `minLength` and `maxLength` are. Zod counts UTF-16
 * units, of which an emoji has two or more, and has no setting for it: the issues of its string schema are corrected.
 */
export function countCodePoints(z: typeof Zod): void {
  const parseUnits = z.ZodString.prototype._parse
  z.ZodString.prototype._parse = function (input) {
    // A text of only blanks or zero-width characters is empty.
    if (typeof input.data === 'string' && !hasVisible(input.data)) input.data = ''
    const { issues } = input.parent.common
    const before = issues.length
    const parsed = parseUnits.call(this, input) as Zod.SyncParseReturnType<string>
    if (parsed.status === 'aborted') return parsed
    const length = countCharacters(parsed.value)
    if (length === parsed.value.length) return parsed
    const found = issues.splice(before)
    issues.push(...found.filter((issue) => issue.code !== 'too_big' || length > Number(issue.maximum)))
    for (const check of this._def.checks) {
      if (check.kind !== 'min' || length >= check.value || parsed.value.length < check.value) continue
      const bound = { minimum: check.value, type: 'string', inclusive: true, exact: false } as const
      z.addIssueToContext(this._getOrReturnCtx(input), {
        code: 'too_small',
        ...bound,
        message: check.message,
      })
    }
    return issues.length === before ? z.OK(parsed.value) : z.DIRTY(parsed.value)
  }
}
