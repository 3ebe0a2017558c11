/** What a text begins or ends with, taken off sign by sign: a pattern with `$` would begin anew at each sign of a run. */

/** Without the signs at its end of which `goes` is true. */
export function withoutEnd(text: string, goes: (sign: string) => boolean): string {
  let end = text.length
  while (end > 0) {
    const sign = signBefore(text, end)
    if (!goes(sign)) break
    end -= sign.length
  }
  return text.slice(0, end)
}

/** Without the signs at its beginning of which `goes` is true. */
export function withoutStart(text: string, goes: (sign: string) => boolean): string {
  let from = 0
  while (from < text.length) {
    const sign = String.fromCodePoint(text.codePointAt(from)!)
    if (!goes(sign)) break
    from += sign.length
  }
  return text.slice(from)
}

function signBefore(text: string, end: number): string {
  const pair = text.slice(Math.max(0, end - 2), end)
  return pair.length === 2 && pair.codePointAt(0)! > 0xffff ? pair : pair.slice(-1)
}
