_mesos_fake_master_completion() {
    local line=${COMP_LINE:0:COMP_POINT} quote word
    local -a answer
    mapfile -t answer < <(_MESOS_FAKE_MASTER_COMPLETE=words_bash _MESOSCTL_LINE=$line _MESOSCTL_REPLACED=${2-} "$1" </dev/null 2>/dev/null)
    quote=${answer[0]-}
    COMPREPLY=()
    for line in "${answer[@]:1}"; do
        word=${line:1}
        case $quote in
            "'")
                word=${word//\'/\'\\\'\'}
                ;;
            "$'")
                word=${word//\\/\\\\}
                word=${word//\'/\\\'}
                ;;
            '"')
                word=${word//\\/\\\\}
                word=${word//\"/\\\"}
                word=${word//\$/\\\$}
                word=${word//\`/\\\`}
                word=${word//!/\"\\!\"}
                ;;
            *)
                if [[ -n $word ]]; then
                    printf -v word %q "$word"
                fi
                if [[ $word != "$'"* ]]; then
                    word=${word//=\~/=\\\~}
                    word=${word//:\~/:\\\~}
                fi
                ;;
        esac
        if [[ -n $quote && $word == *"${quote: -1}" ]]; then
            word+=${quote: -1}
        fi
        COMPREPLY+=("$word")
    done
    if [[ ${#COMPREPLY[@]} == 1 && ${answer[1]} == +* ]]; then
        compopt -o nospace
    fi
    return 0
}

complete -o default -F _mesos_fake_master_completion mesos-fake-master
