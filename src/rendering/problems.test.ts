import { describe, expect, test } from 'vitest'
import { cpuMilliseconds } from '../../test/support/cpu.ts'
import { placeholderProblems, spellingProblems } from './problems.ts'

const sentences = (template: string) => placeholderProblems(template).map(({ text, line }) => `${line}: ${text}`)

describe('problems of placeholders', () => {
  test.each([
    ['Dear ((name)), (((colour))) ((a??(b) c))', []],
    ['one\ntwo ((name', ['2: “((” is never closed by “))” and is sent as it is.']],
    ['name))', ['1: “))” closes nothing and is sent as it is.']],
    ['a (()) b', ['1: “(())” has no name and is sent as it is.']],
    ['\n\n((??text))', ['3: A placeholder has no name.']],
    ['((a\nb))', ['1: The name of ((a b)) has a line break or a tab. Is a “))” missing?']],
    [
      '((warning?text))',
      [
        '1: ((warning?text)) is no condition, but a placeholder of this name. A condition has two question marks: ((name??text)).',
      ],
    ],
    ['((a) b))', ['1: The name of ((a) b)) has a bracket.']],
    [
      '((a??one ((b)) two))',
      [
        '1: The text of the condition “a” has a placeholder, which is sent as it is.',
        '1: “))” closes nothing and is sent as it is.',
      ],
    ],
    ['((a?? ))', ['1: The condition “a” has no text and shows nothing.']],
  ])('%j', (template, expected) => expect(sentences(template)).toEqual(expected))

  test('spellings of one placeholder are named together, across subject and body', () => {
    expect(spellingProblems('((First Name))', '((first_name)) ((other))')).toEqual([
      {
        tone: 'info',
        text: '((First Name)) and ((first_name)) are the same placeholder and take the same value.',
        line: null,
      },
    ])
  })

  test('a hostile text gives few problems, at once', () => {
    const started = cpuMilliseconds()
    for (const text of ['(('.repeat(50_000), '))'.repeat(50_000), '(()) '.repeat(20_000), '((a?))\n'.repeat(14_000)]) {
      expect(placeholderProblems(text).length).toBeLessThanOrEqual(20)
      expect(spellingProblems(text, text)).toEqual([])
    }
    expect(cpuMilliseconds() - started).toBeLessThan(2_000)
  })
})
