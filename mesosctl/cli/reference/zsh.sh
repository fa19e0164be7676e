# Names of some kinds that mesosctl keeps; it is asked only where they are too old.
_PROGRAM_names() {
  zmodload -F zsh/datetime p:EPOCHSECONDS
  local kind folder where=default master=$MESOSCTL_MASTER context=$MESOSCTL_CONTEXT word skip file
  local -a found lines along carried=(GOES_ALONG)
  for word in "${(@Q)_PROGRAM_line[2,-2]}"; do
    if [[ -z $skip && $word == --*=* ]]; then
      skip=${word%%=*}
      word=${word#*=}
    elif [[ -z $skip ]]; then
      if (( ${carried[(Ie)$word]} )); then skip=$word; fi
      continue
    fi
    word=${word/#\~\//$HOME/}
    if (( ${carried[(Ie)$skip]} )); then along+=("$skip" "$word"); fi
    case $skip in
      --master) master=$word ;;
      --context) context=$word ;;
    esac
    skip=
  done
  if [[ -n $master ]]; then
    if [[ $master == *//*@* ]]; then master=${master%%//*}//${master##*@}; fi
    where=master-${master//[^A-Za-z0-9._-]/_}
  elif [[ -n $context ]]; then
    where=context-$context
  fi
  folder=$XDG_CACHE_HOME
  if [[ $folder != /* ]]; then folder=$HOME/.cache; fi
  for kind in "$@"; do
    file=$folder/mesosctl/names/$where/$kind
    if [[ $kind == context ]]; then file=$folder/mesosctl/names/context; fi
    lines=()
    if [[ -r $file ]]; then lines=("${(@f)$(<$file)}"); fi
    if [[ ${lines[1]-} == <-> ]] && (( lines[1] >= EPOCHSECONDS )); then
      found+=("${(@)lines[2,-1]}")
    else
      found+=("${(@f)$(command PROGRAM complete $kind "${(@)along}" </dev/null 2>/dev/null)}")
    fi
  done
  found=("${(@)found:#}")
  compadd -a found
}

_PROGRAM() {
  local -a _PROGRAM_line=("${(@)words[1,CURRENT]}")
  _PROGRAM_words
}

_PROGRAM "$@"
